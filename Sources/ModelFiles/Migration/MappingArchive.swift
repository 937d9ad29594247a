import Foundation
import KeyedArchives
import PredicateLanguage

/// Reads and writes compiled mapping models (`.cdm`): archives of `NSMappingModel`. No class of the archive is
/// instantiated.
public enum MappingArchive {
    /// How the objects of a source entity become objects of a destination entity.
    public struct Entity: Sendable {
        public var name: String?
        /// The number of an `NSEntityMappingType`.
        public var type: UInt
        public var sourceName: String?
        public var sourceHash: Data?
        public var destinationName: String?
        public var destinationHash: Data?
        /// The source instances; nil for all objects of the source entity.
        public var source: ExpressionNode?
        public var policyClassName: String?
        public var attributes: [Property]
        public var relationships: [Property]
        public var userInfo: [String: PropertyListValue]
    }

    /// How the value of a property of the destination entity is computed.
    public struct Property: Sendable {
        public var name: String?
        /// The value; nil leaves the property unchanged.
        public var value: ExpressionNode?
        public var userInfo: [String: PropertyListValue]
    }

    /// Reads the entity mappings of a file, in order: of a compiled mapping model, or of the compiled form of a source
    /// (`.xcmappingmodel`).
    ///
    /// - Throws: ``ModelError`` if the file cannot be read or is not a mapping model.
    public static func read(at url: URL) throws -> [Entity] {
        if url.pathExtension.lowercased() == "xcmappingmodel" || url.lastPathComponent == "xcmapping.xml" {
            return try MappingSource(contentsOf: url).compiled()
        }
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw ModelError(.unreadableFile, "The file cannot be read.", file: url.path)
        }
        return try ModelArchive.reportingErrors(in: url.path) { try read(data) }
    }

    /// Reads the entity mappings of an archive, in order.
    ///
    /// - Throws: ``ModelError``, or an error of the archive.
    public static func read(_ data: Data) throws -> [Entity] {
        guard let root = try KeyedArchive(data: data).root, root.isKind(of: "NSMappingModel") else {
            throw ModelError(.unknownFormat, "The archive contains no mapping model.")
        }
        let reader = PredicateArchiveReader(budget: ReadingBudget(byteCount: data.count))
        let entities = try reader.budget.members(root.object("NSEntityMappings")).compactMap { $0 }
        return try entities.map { try entity($0, reader) }
    }

    /// Whether the mappings fit two versions: the version hashes of each mapping's entities are those of the versions.
    public static func fits(
        _ mappings: [Entity], from source: [String: Data], to destination: [String: Data]
    ) -> Bool {
        !mappings.isEmpty
            && mappings.allSatisfy {
                isEntity($0.sourceName, $0.sourceHash, in: source)
                    && isEntity($0.destinationName, $0.destinationHash, in: destination)
            }
    }

    /// Whether a mapping's entity is an entity of a version: its hash is that of the version's entity with the same name. A
    /// mapping without the entity, such as one that adds or removes objects, fits every version.
    public static func isEntity(_ name: String?, _ hash: Data?, in version: [String: Data]) -> Bool {
        name.map { hash != nil && version[$0] == hash } ?? true
    }

    private static func entity(_ object: ArchivedObject, _ reader: PredicateArchiveReader) throws -> Entity {
        let policy = try object.string("NSEntityMigrationPolicyClassName")
        return Entity(
            name: try object.string("NSMappingName"),
            type: try object.integer("NSMappingType").flatMap(UInt.init(exactly:)) ?? 0,
            sourceName: try object.string("NSSourceEntityName"),
            sourceHash: try data(object, "NSSourceEntityVersionHash"),
            destinationName: try object.string("NSDestinationEntityName"),
            destinationHash: try data(object, "NSDestinationEntityVersionHash"),
            source: try object.object("NSSourceExpression").map { try reader.expression($0) },
            policyClassName: policy?.isEmpty == true ? nil : policy,
            attributes: try properties(object, "NSAttributeMappings", reader),
            relationships: try properties(object, "NSRelationshipMappings", reader),
            userInfo: try userInfo(object, reader))
    }

    private static func properties(
        _ object: ArchivedObject, _ field: String, _ reader: PredicateArchiveReader
    ) throws -> [Property] {
        try reader.budget.members(object.object(field)).compactMap { $0 }.map { property in
            Property(
                name: try property.string("NSDestinationPropertyName"),
                value: try property.object("NSValueExpression").map { try reader.expression($0) },
                userInfo: try userInfo(property, reader))
        }
    }

    private static func data(_ object: ArchivedObject, _ field: String) throws -> Data? {
        guard let value = try object.object(field) else { return nil }
        return value.value.data ?? value.value["NS.data"]?.data
    }

    private static func userInfo(
        _ object: ArchivedObject, _ reader: PredicateArchiveReader
    ) throws -> [String: PropertyListValue] {
        guard let userInfo = try object.object("NSUserInfo") else { return [:] }
        return PropertyListValue(try reader.budget.value(userInfo)).dictionary?.contents ?? [:]
    }
}
