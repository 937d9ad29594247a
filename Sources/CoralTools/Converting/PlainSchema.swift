import Coral

/// The tables of a plain database for a model: one for each hierarchy of entities, one for each many-to-many
/// relationship.
package struct PlainSchema {
    let style: PlainStyle
    let keys: PlainKeys
    package private(set) var tables: [PlainTable] = []
    private(set) var joins: [PlainJoin] = []
    /// The indexes of tables, by the names of all entities.
    private var indices: [String: Int] = [:]
    private let model: NSManagedObjectModel

    /// - Parameter twoSided: The to-one relationships whose sides contradict each other in the store: both have a column.
    package init(
        _ model: NSManagedObjectModel, style: PlainStyle, keys: PlainKeys, twoSided: [NSRelationshipDescription] = []
    ) {
        self.model = model
        self.style = style
        self.keys = keys
        var names = NameChoice(taken: [], separator: style.separator)
        let roots = model.entities.filter { $0.superentity == nil }.sorted { ($0.name ?? "") < ($1.name ?? "") }
        var tableNames: [String: String] = [:]
        for root in roots { tableNames[root.name ?? ""] = names.choose(style.name(root.name ?? "")) }
        tables = roots.map { PlainColumns(of: $0, tables: tableNames, style, twoSided: twoSided).table }
        for (index, table) in tables.enumerated() {
            for entity in Self.hierarchy(of: table.entity) { indices[entity.name ?? ""] = index }
        }
        for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            for relationship in Self.ownRelationships(of: entity) where Self.needsJoin(relationship) {
                guard let destination = relationship.destinationEntity, let owner = table(of: entity),
                    let member = table(of: destination)
                else { continue }
                var columns = NameChoice(taken: [], separator: style.separator)
                let inverse = relationship.inverseRelationship
                joins.append(
                    PlainJoin(
                        name: names.choose(style.name(entity.name ?? "", relationship.name)),
                        relationship: relationship, owner: owner, member: member,
                        ownerColumn: columns.choose(style.name(entity.name ?? "", "id")),
                        memberColumn: columns.choose(style.name(destination.name ?? "", "id")),
                        position: relationship.isOrdered ? columns.choose("position") : nil,
                        inversePosition: inverse?.isOrdered == true && inverse !== relationship
                            ? columns.choose(style.name("inverse", "position")) : nil))
            }
        }
    }

    /// The schema with a column for both sides of some one-to-one relationships.
    func adding(columnsFor twoSided: [NSRelationshipDescription]) -> PlainSchema {
        twoSided.isEmpty ? self : PlainSchema(model, style: style, keys: keys, twoSided: twoSided)
    }

    /// The to-one relationships without a column, because their inverses have one.
    var inverses: [NSRelationshipDescription] {
        model.entities.flatMap(Self.ownRelationships).filter { !$0.isToMany && !Self.hasColumn($0) }
    }

    /// The entities in whose rows an attribute or a reference is required.
    var entitiesWithRequirements: Set<String> {
        let required = tables.filter { table in
            table.columns.contains { column in
                switch column.content {
                case .attribute, .reference: column.isRequired
                case .key, .entity, .position: false
                }
            }
        }
        return Self.names(of: required.map(\.entity))
    }

    /// The entities with an ordered relationship whose positions are in the rows of its members, or of pairs that others own.
    var ownersOfPositions: Set<String> {
        let ofMembers = tables.flatMap(\.columns).compactMap { column in
            if case .position(let relationship) = column.content { relationship } else { nil }
        }
        let ofPairs = joins.filter { $0.inversePosition != nil }.map(\.relationship)
        return Self.names(of: (ofMembers + ofPairs).compactMap { Self.inverse($0)?.entity })
    }

    /// The names of entities and their subentities.
    private static func names(of entities: [NSEntityDescription]) -> Set<String> {
        Set(entities.flatMap(hierarchy).compactMap(\.name))
    }

    /// The table of an entity, by its name.
    func table(of entity: String) -> PlainTable? { indices[entity].map { tables[$0] } }

    func table(of entity: NSEntityDescription) -> PlainTable? { table(of: entity.name ?? "") }

    // MARK: - Entities and relationships

    static func root(of entity: NSEntityDescription) -> NSEntityDescription {
        var entity = entity
        while let parent = entity.superentity { entity = parent }
        return entity
    }

    /// The entity and its subentities, superentities first, in the order of their names. Recursive; the depth is that
    /// of the model.
    package static func hierarchy(of entity: NSEntityDescription) -> [NSEntityDescription] {
        [entity] + entity.subentities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap(hierarchy)
    }

    /// The relationships that an entity does not inherit, and that are stored.
    static func ownRelationships(of entity: NSEntityDescription) -> [NSRelationshipDescription] {
        entity.relationshipsByName.sorted { $0.key < $1.key }.map(\.value).filter {
            !$0.isTransient && entity.superentity?.relationshipsByName[$0.name] == nil
        }
    }

    /// The relationship's description in the entity that declares it. Subentities have copies of the description.
    static func declared(_ relationship: NSRelationshipDescription) -> NSRelationshipDescription {
        var found = relationship
        while let inherited = found.entity.superentity?.relationshipsByName[found.name] { found = inherited }
        return found
    }

    /// The inverse of a relationship, of the entity that declares it.
    static func inverse(_ relationship: NSRelationshipDescription) -> NSRelationshipDescription? {
        relationship.inverseRelationship.map(declared)
    }

    /// Whether a to-many relationship has a table of its own. Of two inverse relationships only one has.
    static func needsJoin(_ relationship: NSRelationshipDescription) -> Bool {
        guard relationship.isToMany else { return false }
        guard let inverse = inverse(relationship) else { return true }
        return inverse.isToMany && (inverse === relationship || isFirst(relationship, inverse))
    }

    /// Whether a to-one relationship has a column. Of two inverse to-one relationships only one has.
    static func hasColumn(_ relationship: NSRelationshipDescription) -> Bool {
        guard !relationship.isToMany else { return false }
        guard let inverse = inverse(relationship), !inverse.isToMany, inverse !== relationship else { return true }
        // The required relationship has the column; if both or neither are required, the first.
        return relationship.isOptional == inverse.isOptional
            ? isFirst(relationship, inverse) : !relationship.isOptional
    }

    private static func isFirst(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) -> Bool {
        (one.entity.name ?? "", one.name) < (other.entity.name ?? "", other.name)
    }
}
