import Coral
import CoreData
import ModelFiles

/// A mapping model with the name of its file.
public struct MigrationMapping: @unchecked Sendable {  // because the mapping model is not changed
    /// The name, such as `Notes1to2`.
    public let name: String
    /// The mapping model. Its entity mappings must have version hashes, as those of mapping model files do.
    public let model: NSMappingModel

    /// Creates a mapping from a mapping model.
    public init(name: String, model: NSMappingModel) {
        self.name = name
        self.model = model
    }

    /// Reads a mapping model file: a `.cdm`; with this package's engine also an `.xcmappingmodel`.
    ///
    /// - Throws: ``MigrationError`` with the reason if it cannot be read.
    public init(contentsOf url: URL) throws {
        name = url.deletingPathExtension().lastPathComponent
        model = try ModelVersion.reading { try Engine.current.mappingModel(contentsOf: url) }
    }

    /// Reads all mapping models of a file, a folder or a bundle, in the order of their paths.
    ///
    /// - Parameter url: A mapping model file, or a folder with such files at any depth.
    /// - Throws: ``MigrationError`` if there is none, and with the reason if one cannot be read.
    public static func mappings(at url: URL) throws -> [MigrationMapping] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw MigrationError(.missingModel, "There is no mapping model at \(url.path).")
        }
        if !isFolder.boolValue || isMappingModel(url) { return [try MigrationMapping(contentsOf: url)] }
        var found: [URL] = []
        let all = FileManager.default.enumerator(
            at: url, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        while let member = all?.nextObject() as? URL {
            guard isMappingModel(member) else { continue }
            found.append(member)
            // A mapping model's source is a folder.
            all?.skipDescendants()
        }
        guard !found.isEmpty else {
            throw MigrationError(.missingModel, "There is no mapping model in the folder \(url.path).")
        }
        return try found.sorted { $0.path < $1.path }.map(MigrationMapping.init(contentsOf:))
    }

    private static func isMappingModel(_ url: URL) -> Bool {
        Engine.current.mappingModelExtensions.contains(url.pathExtension.lowercased())
    }

    /// Whether the mapping model fits these versions: its version hashes are equal to those of the versions.
    func fits(from source: [String: Data], to destination: [String: Data]) -> Bool {
        let mappings = model.entityMappings ?? []
        return !mappings.isEmpty
            && mappings.allSatisfy {
                MappingArchive.isEntity($0.sourceEntityName, $0.sourceEntityVersionHash, in: source)
                    && MappingArchive.isEntity(
                        $0.destinationEntityName, $0.destinationEntityVersionHash, in: destination)
            }
    }
}
