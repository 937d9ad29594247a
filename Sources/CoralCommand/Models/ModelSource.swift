import ArgumentParser
import AtomicFiles
import Coral
import ModelFiles

#if STORE_ENGINE
    import struct StoreTools.RowSalvage
#endif

/// The source of a store's model: `--model`.
struct ModelSource: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The model: a .momd, .mom, .xcdatamodeld, .xcdatamodel, Swift sources with @Model, or another store. Default: the store's own.",
            valueName: "path"), completion: Completion.models)
    var model: String?

    /// The given file; nil if there is none.
    var url: URL? { model.map { URL(storeAt: $0) } }

    /// The model of a model file of any kind or of Swift sources, or the model that is cached in a store.
    ///
    /// Throws `CommandError` or an error of Core Data's, with the file and the reason.
    static func model(at path: String) throws -> NSManagedObjectModel {
        if let sources = try SwiftDataSourceFiles.read(path) {
            return try SwiftDataSourceFiles.managedModel(sources.current.model)
        }
        let url = URL(storeAt: path)
        guard try url.storeExists() else {
            throw CommandError("There is no model or store at \(ServerURLs.shown(path)).")
        }
        guard isModelFile(url) else {
            try requireStore(url, at: path)
            return try ownModel(of: url.withoutLinks)
        }
        #if !STORE_ENGINE
            guard let model = NSManagedObjectModel(contentsOf: url) else {
                throw CommandError("\(path) is not a readable compiled model.")
            }
            return model
        #else
            return try NSManagedObjectModel.model(contentsOf: url)
        #endif
    }

    static func isModelFile(_ url: URL) -> Bool {
        guard url.isFileURL else { return false }
        return ["mom", "momd", "omo", "xcdatamodel", "xcdatamodeld"].contains(url.pathExtension.lowercased())
            || ["contents", "elements"].contains(url.lastPathComponent)
    }

    /// Rejects a folder or a file that is neither a model nor a store. An empty file is a database for SQLite.
    ///
    /// Throws `CommandError`.
    static func requireStore(_ url: URL, at path: String) throws {
        try OpenStore.requireFile(url)
        guard url.isFileURL, let status = FileStatus(url.path) else { return }
        if status.isRegular {
            guard let handle = try? FileHandle(forReadingFrom: url) else { return }
            defer { try? handle.close() }
            let head = (try? handle.read(upToCount: 16)) ?? Data()
            if head.isEmpty || head == Data("SQLite format 3\0".utf8) { return }
        }
        throw CommandError(
            "\(path) is not a model. A model is a .xcdatamodeld, .xcdatamodel, .momd or .mom, Swift sources with @Model, or a "
                + "store.")
    }

    /// The model for a store: the given one, otherwise the cached one.
    func model(for store: URL) throws -> NSManagedObjectModel { try givenModel() ?? Self.ownModel(of: store) }

    /// The given model; nil if none was given. Throws as `model(at:)` does.
    func givenModel() throws -> NSManagedObjectModel? { try model.map(Self.model(at:)) }

    /// The model that is cached in a store.
    static func ownModel(of store: URL) throws -> NSManagedObjectModel {
        #if canImport(Darwin)
            throw CommandError("Give the model of \(store.storeName) with --model.")
        #else
            return try ownModel(in: StoreInspection(url: store))
        #endif
    }

    #if !canImport(Darwin)
        /// The model that is cached in a store, otherwise one that is inferred from its tables.
        static func ownModel(in inspection: StoreInspection) throws -> NSManagedObjectModel {
            if let model = try inspection.cachedModel ?? inspection.inferredModel() { return model }
            throw CommandError(
                "\(inspection.url.storeName) contains neither its model nor tables of entities: give the model with --model."
            )
        }
    #endif

    #if STORE_ENGINE
        /// The model for a store that may be damaged: the given one, the one that is cached in pages that can be read, or one that is
        /// inferred from the tables, if SQLite can read them; else nil. Throws if the given model cannot be read.
        func modelOfDamagedStore(at url: URL) throws -> NSManagedObjectModel? {
            let store = url.withoutLinks
            // The inspection reads the cached model, and so fails if that is damaged.
            return try givenModel() ?? RowSalvage.cachedModel(of: url) ?? (try? Self.ownModel(of: store))
                ?? (try? StoreInspection.inferredModel(of: store))
        }
    #endif

    /// The stores of which it has been reported that their model was inferred: once for each, however often a command opens it.
    private static let reported = ReportedStores()

    /// Reports that the model of a store was inferred, and for which entities only their columns could be read.
    static func reportInference(of store: URL, _ model: NSManagedObjectModel) {
        guard reported.add(store) else { return }
        StandardError.report(
            "\(store.storeName) does not contain its model: entities and properties were inferred from its tables. Give the model "
                + "with --model for its own names and types.")
        #if !canImport(Darwin)
            let damaged = model.entities.filter { $0.userInfo?[StoreInspection.inferredKey] as? String == "columns" }
            if damaged.isEmpty { return }
            StandardError.warn(
                "The store is damaged. The types of \(damaged.compactMap(\.name).sorted().joined(separator: ", ")) follow from the "
                    + "columns alone, because not all rows can be read.")
        #endif
    }

    /// Whether a model was inferred from the tables of a store.
    static func isInferred(_ model: NSManagedObjectModel) -> Bool {
        #if canImport(Darwin)
            return false
        #else
            return model.entities.contains { $0.userInfo?[StoreInspection.inferredKey] != nil }
        #endif
    }
}

/// Stores of which something has been reported.
private final class ReportedStores: @unchecked Sendable {  // because the lock guards the locations
    private let lock = NSLock()
    private var urls: Set<URL> = []

    /// Adds a store. Returns whether it is new.
    func add(_ url: URL) -> Bool { lock.withLock { urls.insert(url).inserted } }
}

/// Models as plain values, from files and stores. They include what compiled models omit.
enum ModelFileSource {
    /// The model file or the Swift sources with all versions, or the cached model of a store as a file of one version.
    ///
    /// Throws `CommandError`, or `ModelError` with file and line.
    static func file(at path: String) throws -> ModelFile {
        if let sources = try SwiftDataSourceFiles.read(path) { return try sources.modelFile() }
        let url = URL(storeAt: path)
        guard try url.storeExists() else {
            throw CommandError("There is no model or store at \(ServerURLs.shown(path)).")
        }
        guard ModelSource.isModelFile(url) else {
            try ModelSource.requireStore(url, at: path)
            return try ofStore(url)
        }
        return try ModelFile.read(at: url)
    }

    private static func ofStore(_ url: URL) throws -> ModelFile {
        #if canImport(Darwin)
            throw CommandError(
                "\(url.storeName) is not a model file; on this system, give the model of a store as a file.")
        #else
            let model = try ModelSource.ownModel(in: StoreInspection(url: url))
            if ModelSource.isInferred(model) { ModelSource.reportInference(of: url, model) }
            let name = url.deletingPathExtension().lastPathComponent
            return try ModelFile(kind: .compiled, versions: [.init(name: name, model: model.modelValue())])
        #endif
    }

    /// The version with a name, or the current one.
    ///
    /// Throws `CommandError` with a suggestion if there is no such version.
    static func version(_ name: String?, of file: ModelFile) throws -> ModelFile.Version {
        guard let name else { return file.current }
        guard let version = file.versions.first(where: { $0.name == name }) else {
            throw CommandError(
                "There is no version \"\(name)\".\(NameSuggestion.advice(for: name, in: file.versions.map(\.name)))")
        }
        return version
    }
}
