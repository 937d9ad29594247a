import Coral
import CoreData

/// A version of a model, with the name of its file.
public struct ModelVersion: @unchecked Sendable {  // because the model is not changed
    /// The name, such as `Notes 2`.
    public let name: String
    /// The model.
    public let model: NSManagedObjectModel

    /// Creates a version.
    public init(name: String, model: NSManagedObjectModel) {
        self.name = name
        self.model = model
    }

    /// Reads all versions of a model, sorted by name, with numbers in numerical order: `Notes`, `Notes 2`, `Notes 10`.
    ///
    /// - Parameter url: A `.momd`, a `.mom`, with this package's engine also an `.xcdatamodeld` or `.xcdatamodel`, or a
    ///   folder that contains such files.
    /// - Throws: ``MigrationError`` if there is no model, and with the reason if one cannot be read.
    public static func versions(at url: URL) throws -> [ModelVersion] {
        let kinds = ["mom", "momd", "xcdatamodel", "xcdatamodeld"]
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw MigrationError(.missingModel, "There is no model at \(url.path).")
        }
        let kind = url.pathExtension.lowercased()
        if !isFolder.boolValue || kind == "xcdatamodel" { return [try version(at: url)] }
        let members = try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
            .filter { kinds.contains($0.pathExtension.lowercased()) }
        guard !members.isEmpty else {
            // A folder with another name may be a model.
            if kind == "xcdatamodeld" || kind == "momd" { return [try version(at: url)] }
            throw MigrationError(.missingModel, "There is no model in the folder \(url.path).")
        }
        return try members.flatMap { try versions(at: $0) }.sorted {
            $0.name.compare($1.name, options: .numeric) == .orderedAscending
        }
    }

    /// Reads one model; of a file with several versions the current one.
    ///
    /// - Throws: ``MigrationError`` with the reason if it cannot be read.
    static func version(at url: URL) throws -> ModelVersion {
        let name = url.deletingPathExtension().lastPathComponent
        return ModelVersion(name: name, model: try reading { try Engine.current.model(contentsOf: url) })
    }

    /// Throws ``MigrationError`` with the reason if a model or mapping model cannot be read.
    static func reading<Model>(_ read: () throws -> Model) throws -> Model {
        do {
            return try read()
        } catch {
            throw MigrationError(.missingModel, (error as NSError).localizedDescription)
        }
    }

    /// Whether a store with these metadata was written with this version.
    func fits(_ metadata: [String: Any]) -> Bool {
        model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }

    /// Whether stores of one version open with the other.
    func isEqual(to other: ModelVersion) -> Bool {
        model.entityVersionHashesByName == other.model.entityVersionHashesByName
    }
}

/// The model that a store contains.
enum StoredModel {
    /// The model that is cached in a store, as a version with the name of the store; nil if there is none, and with Core Data's
    /// public API, which cannot read it.
    static func model(ofStoreAt url: URL) -> ModelVersion? {
        Engine.current.cachedModel(ofStoreAt: url).map {
            ModelVersion(name: url.deletingPathExtension().lastPathComponent, model: $0)
        }
    }
}
