import CoreData

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
        #if canImport(Darwin) || CORAL_PUBLIC_API
            guard let model = NSMappingModel(contentsOf: url) else {
                throw MigrationError(.missingModel, "\(url.path) is not a readable compiled mapping model.")
            }
            self.model = model
        #else
            do {
                model = try NSMappingModel.mappingModel(contentsOf: url)
            } catch {
                throw MigrationError(.missingModel, (error as NSError).localizedDescription)
            }
        #endif
    }

    /// Whether it was made for these versions: its version hashes are theirs.
    func fits(from source: [String: Data], to destination: [String: Data]) -> Bool {
        let mappings = model.entityMappings ?? []
        return !mappings.isEmpty
            && mappings.allSatisfy {
                Self.fits($0.sourceEntityName, $0.sourceEntityVersionHash, source)
                    && Self.fits($0.destinationEntityName, $0.destinationEntityVersionHash, destination)
            }
    }

    private static func fits(_ name: String?, _ hash: Data?, _ hashes: [String: Data]) -> Bool {
        guard let name else { return true }
        return hash != nil && hashes[name] == hash
    }
}
