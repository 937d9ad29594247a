import Foundation
import Synchronization

/// The entities of a container: what a set of model classes becomes in a store.
///
/// ```swift
/// let schema = Schema([Trip.self])          // and every model that Trip refers to, directly or indirectly
/// let container = try ModelContainer(for: schema)
/// ```
public final class Schema: Codable, Hashable, CustomDebugStringConvertible,
    @unchecked Sendable  // because it is not changed once a container uses it
{
    /// The entities, in alphabetical order.
    public let entities: [Entity]
    public let entitiesByName: [String: Entity]
    /// The version, which the store notes.
    public let version: Version
    /// Whether the program has stated the version.
    let isVersionStated: Bool
    /// The version of the form in which ``encode(to:)`` writes a schema.
    public let encodingVersion: Version
    public static let schemaEncodingVersion = Version(1, 0, 0)

    /// The classes of the models; empty for a schema without classes.
    let classes: [ModelClass]

    /// Creates a schema without entities.
    public convenience init() { self.init(entities: [], classes: [], version: Version(1, 0, 0)) }

    /// Creates a schema of described entities, without model classes.
    public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
        self.init(entities: entities, classes: [], version: version)
    }

    /// Creates the schema of models, and of all models reachable from them by relationships.
    public init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
        let classes = ModelClass.reachable(from: types)
        let entities = SchemaBuilder(classes).entities.sorted { $0.name < $1.name }
        (self.classes, self.entities, self.version) = (classes, entities, version)
        isVersionStated = true
        encodingVersion = Self.schemaEncodingVersion
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Creates the schema of models, and of all models reachable from them by relationships.
    public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
        self.init(types, version: version)
    }

    /// Creates the schema of models, and of all models reachable from them by relationships.
    ///
    /// It has the version 1.0.0, which says nothing: a migration plan leads to the last of its versions that has these entities.
    public convenience init(_ types: [any PersistentModel.Type]) {
        let classes = ModelClass.reachable(from: types)
        self.init(
            entities: SchemaBuilder(classes).entities, classes: classes, version: Version(1, 0, 0),
            isVersionStated: false)
    }

    /// Creates the schema of models, and of all models reachable from them by relationships.
    ///
    /// It has the version 1.0.0, which says nothing: a migration plan leads to the last of its versions that has these entities.
    public convenience init(_ types: any PersistentModel.Type...) { self.init(types) }

    /// Creates the schema of a version.
    public convenience init(versionedSchema: any VersionedSchema.Type) {
        self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    }

    private init(entities: [Entity], classes: [ModelClass], version: Version, isVersionStated: Bool = true) {
        (self.entities, self.classes, self.version) = (entities.sorted { $0.name < $1.name }, classes, version)
        self.isVersionStated = isVersionStated
        encodingVersion = Self.schemaEncodingVersion
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The name of a model's entity: that of the class, without module and enclosing types.
    public static func entityName<T: PersistentModel>(for type: T.Type) -> String { ModelClass.name(of: type) }

    /// The entity of a model.
    public func entity<T: PersistentModel>(for type: T.Type) -> Entity? { entitiesByName[ModelClass.name(of: type)] }

    /// Reads a schema that ``save(to:)`` has written.
    public static func load(from fromURL: URL) throws -> Schema {
        try JSONDecoder().decode(Schema.self, from: Data(contentsOf: fromURL))
    }

    /// Writes the schema to a file. The classes of the models are not in the file.
    public func save(to toURL: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(self).write(to: toURL, options: .atomic)
    }

    // MARK: - Coding and equality

    private enum CodingKeys: String, CodingKey { case entities, version, encodingVersion }

    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let entities = try container.decode([Entity].self, forKey: .entities)
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for entity in entities {
            if let name = entity.superentityName { byName[name]?.subentities.insert(entity) }
        }
        for entity in entities {
            // A file may state that an entity is its own ancestor.
            var (ancestors, next): ([Entity], Entity?) = ([], entity.superentity)
            while let ancestor = next, ancestor !== entity, !ancestors.contains(where: { $0 === ancestor }) {
                ancestors.append(ancestor)
                next = ancestor.superentity
            }
            entity.inheritedProperties = ancestors.reversed().flatMap(\.storedProperties)
        }
        self.init(entities: entities, classes: [], version: try container.decode(Version.self, forKey: .version))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entities, forKey: .entities)
        try container.encode(version, forKey: .version)
        try container.encode(encodingVersion, forKey: .encodingVersion)
    }

    public static func == (lhs: Schema, rhs: Schema) -> Bool {
        lhs === rhs || lhs.version == rhs.version && lhs.entities == rhs.entities
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(entities.map(\.name))
    }

    public var debugDescription: String { "Schema \(version): \(entities.map(\.name).joined(separator: ", "))" }

    /// A version of a schema, such as 1.0.0.
    public struct Version: Codable, Comparable, Hashable, CustomStringConvertible, Sendable {
        public let major: Int
        public let minor: Int
        public let patch: Int

        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            (self.major, self.minor, self.patch) = (major, minor, patch)
        }

        public var description: String { "\(major).\(minor).\(patch)" }

        public static func < (lhs: Version, rhs: Version) -> Bool {
            (lhs.major, lhs.minor, lhs.patch) < (rhs.major, rhs.minor, rhs.patch)
        }
    }

    /// One element of a model's `schemaMetadata`, which `@Model` writes.
    public struct PropertyMetadata {
        let name: String
        let keypath: AnyKeyPath
        let defaultValue: Any?
        let metadata: (any SchemaProperty)?

        /// - Parameters:
        ///   - name: The name of the property.
        ///   - keypath: Its key path, with the class as root.
        ///   - defaultValue: The initial value in the source.
        ///   - metadata: The arguments of `@Attribute` or `@Relationship`.
        public init(name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil)
        {
            (self.name, self.keypath, self.defaultValue, self.metadata) = (name, keypath, defaultValue, metadata)
        }
    }
}

/// A version of a program's models.
public protocol VersionedSchema: SendableMetatype {
    static var versionIdentifier: Schema.Version { get }
    static var models: [any PersistentModel.Type] { get }
}
