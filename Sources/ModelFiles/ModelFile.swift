import Foundation
import KeyedArchives

// Models as values. Reading begins here.
//
// - `Model`: a model, its entities and properties, and their validation.
// - `Source`, `Compiled`, `SwiftData`: the forms in which a model is kept. `ModelFile` finds out which one a file
//   has.
// - `Hashes`: version hashes. `Differences`: the changes between two models. `Migration`: mappings.
//
// Where a rule is:
// - the version hash of an entity: `Hashes/VersionHash.swift`
// - why version hashes differ: `Hashes/HashDifference.swift`
// - how SwiftData stores a type of Swift: `SwiftData/StoredForm.swift`
// - the model and the inverses of SwiftData's classes: `SwiftData/StoredClass.swift`
// - which changes of a model can be inferred: `Migration/InferredMapping.swift`
// - which entities and properties of two models are the same: `Migration/ModelMatch.swift`

/// A file or directory that contains a model, in one version or several.
public struct ModelFile: Sendable, Equatable {
    /// The kind of file.
    public var kind: Kind
    /// The versions, sorted by name with numeric ordering, or in the order of a migration plan. There is at least one.
    public var versions: [Version]
    /// The index of the current version in ``versions``.
    public var currentIndex: Int

    /// The kinds of files and directories that contain models.
    public enum Kind: String, Sendable {
        /// `.xcdatamodeld`: a directory of source models.
        case sourceBundle
        /// `.xcdatamodel`, or the file `contents` in it: one source model.
        case source
        /// The file `elements`, the format of source models before Xcode 4.
        case elements
        /// `.momd`: a directory of compiled models.
        case compiledBundle
        /// `.mom`: one compiled model.
        case compiled
        /// Swift sources with classes of SwiftData, in versioned schemas.
        case swiftSchemas
        /// Swift sources with classes of SwiftData, without versions.
        case swiftSource
    }

    /// A version of a model.
    public struct Version: Sendable, Equatable {
        /// The version's name: the name of its file without the extension.
        public var name: String
        /// The model.
        public var model: Model

        /// Creates a version.
        public init(name: String, model: Model) {
            self.name = name
            self.model = model
        }
    }

    /// Creates a file of the given versions. The current version is the one named `currentName`, or else the last.
    public init(kind: Kind, versions: [Version], currentName: String? = nil) throws {
        guard !versions.isEmpty else { throw ModelError(.unknownFormat, "The directory contains no model.") }
        self.kind = kind
        // The versions of a migration plan have their own order.
        guard kind != .swiftSchemas else {
            self.versions = versions
            currentIndex = versions.firstIndex { $0.name == currentName } ?? versions.count - 1
            return
        }
        self.versions = versions.sorted { $0.name.compare($1.name, options: .numeric) == .orderedAscending }
        currentIndex = self.versions.firstIndex { $0.name == currentName } ?? self.versions.count - 1
    }

    /// The current version.
    public var current: Version { versions[currentIndex] }

    /// The current version's model.
    public var model: Model { current.model }

    /// Reads the model at a URL. The kind is determined by the content of the file or directory, not by its extension.
    ///
    /// Throws ``ModelError`` with file and line when there is no file, no model in it, or the file is damaged.
    public static func read(at url: URL) throws -> ModelFile {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw ModelError(.unreadableFile, "The file or directory does not exist.", file: url.path)
        }
        return isDirectory.boolValue ? try readDirectory(url) : try readFile(url)
    }

    /// Reads only the current version at a URL: the model that ``read(at:)`` gives as ``model``. Cost: of a directory that states its
    /// current version, by `VersionInfo.plist` or `.xccurrentversion`, one model is read, and otherwise all are.
    public static func readCurrentModel(at url: URL) throws -> Model {
        let compiled = (try? versionInfo(url, ["VersionInfo.plist"]))?["NSManagedObjectModel_CurrentVersionName"]?
            .string
        let source = try? currentSourceName(url, [".xccurrentversion"])
        guard let name = compiled.map({ $0 + ".mom" }) ?? source.map({ $0 + ".xcdatamodel" }),
            FileManager.default.fileExists(atPath: url.appendingPathComponent(name).path)
        else { return try read(at: url).model }
        return try read(at: url.appendingPathComponent(name)).model
    }

    private static func readDirectory(_ url: URL) throws -> ModelFile {
        let names = try contents(of: url)
        for name in ["contents", "elements"] where names.contains(name) {
            var file = try readFile(url.appendingPathComponent(name))
            file.versions[0].name = Self.baseName(url.lastPathComponent)
            return file
        }
        let sources = names.filter { $0.hasSuffix(".xcdatamodel") }
        if !sources.isEmpty {
            let versions = try sources.map { name in
                Version(name: baseName(name), model: try readDirectory(url.appendingPathComponent(name)).model)
            }
            return try ModelFile(kind: .sourceBundle, versions: versions, currentName: currentSourceName(url, names))
        }
        let compiled = names.filter { $0.hasSuffix(".mom") }
        guard !compiled.isEmpty else {
            throw ModelError(.unknownFormat, "The directory contains no model.", file: url.path)
        }
        let versions = try compiled.map { name in
            Version(name: baseName(name), model: try readFile(url.appendingPathComponent(name)).model)
        }
        let current = try versionInfo(url, names)?["NSManagedObjectModel_CurrentVersionName"]?.string
        return try ModelFile(kind: .compiledBundle, versions: versions, currentName: current)
    }

    private static func readFile(_ url: URL) throws -> ModelFile {
        let data = try contents(ofFile: url)
        let path = url.path
        func single(_ kind: Kind, _ model: Model) throws -> ModelFile {
            try ModelFile(kind: kind, versions: [Version(name: baseName(url.lastPathComponent), model: model)])
        }
        if BinaryPropertyList.isBinaryPropertyList(data) {
            return try ModelArchive.reportingErrors(in: path) {
                let archive = try KeyedArchive(data: data)
                guard let root = try archive.root else {
                    throw ModelError(.unknownFormat, "The archive is empty.")
                }
                return root.isKind(of: "XDPMModel")
                    ? try single(.elements, ModelElementsReader.read(archive, byteCount: data.count))
                    : try single(.compiled, ModelArchive.read(archive, byteCount: data.count))
            }
        }
        if data.starts(with: Array("momv2$".utf8)) {
            throw ModelError(
                .unknownFormat, "This is an optimised copy of a compiled model; use the .mom beside it.", file: path)
        }
        if data.starts(with: Array("SQLite format 3".utf8)) {
            throw ModelError(.unknownFormat, "This is a store, not a model.", file: path)
        }
        // XML may begin with whitespace or a byte order mark.
        guard data.prefix(64).contains(UInt8(ascii: "<")) else {
            throw ModelError(.unknownFormat, "The file is not a model in any known format.", file: path)
        }
        return try single(.source, ModelSourceReader.read(data, file: path))
    }
}

// MARK: - Files

extension ModelFile {
    private static func baseName(_ name: String) -> String {
        (name as NSString).deletingPathExtension
    }

    static func contents(ofFile url: URL) throws -> Data {
        do {
            return try Data(contentsOf: url)
        } catch {
            throw ModelError(.unreadableFile, "The file cannot be read.", file: url.path)
        }
    }

    private static func contents(of directory: URL) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        } catch {
            throw ModelError(.unreadableFile, "The directory cannot be read.", file: directory.path)
        }
    }

    /// The name of the current version of a source bundle. The file with this name is absent if there is one
    /// version.
    private static func currentSourceName(_ url: URL, _ names: [String]) throws -> String? {
        guard names.contains(".xccurrentversion") else { return nil }
        let file = url.appendingPathComponent(".xccurrentversion")
        return try ModelArchive.reportingErrors(in: file.path) {
            let propertyList = try PropertyListValue(propertyList: contents(ofFile: file))
            return propertyList["_XCCurrentVersionName"]?.string.map(baseName)
        }
    }

    /// The version hashes of the entities of each version in a compiled bundle, as `VersionInfo.plist` states them; empty if it
    /// states none. No model is read.
    public static func statedHashes(ofBundleAt url: URL) throws -> [(version: String, hashes: [String: Data])] {
        let info = try versionInfo(url, ["VersionInfo.plist"])?["NSManagedObjectModel_VersionHashes"]?.dictionary
        return (info?.contents ?? [:]).sorted { $0.key < $1.key }.map { version, hashes in
            (version, (hashes.dictionary?.contents ?? [:]).compactMapValues(\.data))
        }
    }

    private static func versionInfo(_ url: URL, _ names: [String]) throws -> PropertyListValue? {
        guard names.contains("VersionInfo.plist") else { return nil }
        let file = url.appendingPathComponent("VersionInfo.plist")
        return try ModelArchive.reportingErrors(in: file.path) {
            try PropertyListValue(propertyList: contents(ofFile: file))
        }
    }
}

/// The keys of a store's metadata.
public enum StoreMetadataKeys {
    /// The key, defined by Apple, of the name of the class that has migrated the store in place.
    public static let migrationManagerClass = "migrationManagerClass"
    /// The key of the named followers of the store's history.
    public static let historyFollowers = "CoralHistoryFollowers"
    /// The key, defined by Apple, of the work that a migration has deferred.
    public static let deferredMigration = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

    /// Whether the framework sets a key whenever it writes the metadata.
    public static func isOfFramework(_ key: String) -> Bool {
        key.hasPrefix("NSStore") || key.hasPrefix("_NS") || key == "NSPersistenceFrameworkVersion"
    }

    /// Whether a program has added a key. Its value is kept when a new file replaces a store, and is part of a document of the
    /// whole store. Values of the framework's keys follow from the model and from the store's own history.
    public static func isOfProgram(_ key: String) -> Bool {
        !isOfFramework(key) && !key.hasPrefix("NSPersistence")
            && ![migrationManagerClass, historyFollowers, deferredMigration].contains(key)
    }
}
