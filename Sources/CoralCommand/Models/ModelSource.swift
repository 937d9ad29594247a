import ArgumentParser
import AtomicFiles
import Coral

/// Where a command takes a store's model from.
struct ModelSource: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The model: a .momd, .mom, .xcdatamodeld or .xcdatamodel, or another store. Else the store's own.",
            valueName: "path"), completion: Completion.models)
    var model: String?

    /// The file that was given; nil where none was.
    var url: URL? { model.map { URL(fileURLWithPath: $0) } }

    /// The model of a file: of a model file of any kind, or the one that a store keeps of itself.
    ///
    /// Throws `CommandError` or an error of Core Data's, with the file and the reason.
    static func model(at path: String) throws -> NSManagedObjectModel {
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CommandError("There is no model or store at \(path).")
        }
        guard isModelFile(url) else {
            try OpenStore.requireFile(url)
            return try ownModel(of: url.withoutLinks)
        }
        #if canImport(Darwin) || CORAL_PUBLIC_API
            guard let model = NSManagedObjectModel(contentsOf: url) else {
                throw CommandError("\(path) is no compiled model that can be read.")
            }
            return model
        #else
            return try NSManagedObjectModel.model(contentsOf: url)
        #endif
    }

    static func isModelFile(_ url: URL) -> Bool {
        ["mom", "momd", "omo", "xcdatamodel", "xcdatamodeld"].contains(url.pathExtension.lowercased())
            || ["contents", "elements"].contains(url.lastPathComponent)
    }

    /// The model for a store: the given one, else the store's own.
    func model(for store: URL) throws -> NSManagedObjectModel {
        try model.map(Self.model(at:)) ?? Self.ownModel(of: store)
    }

    /// The model that a store keeps of itself.
    static func ownModel(of store: URL) throws -> NSManagedObjectModel {
        #if canImport(Darwin)
            throw CommandError("Give the model of \(store.path) with --model.")
        #else
            guard let cached = try StoreInspection(url: store).cachedModel else {
                throw CommandError(
                    "\(store.path) keeps no model of itself, as stores of old systems do not: give it with --model.")
            }
            return cached
        #endif
    }
}
