import CoreData
import GraphDocuments

/// The model in the form that an import needs: the schema for reading documents, including the renaming identifiers of
/// properties, and for each entity its identity rules and relationship policies.
package final class ImportModel {
    /// The schema for readers, including earlier names.
    package let schema: GraphSchema
    /// How documents that were not written by this package map to the model; nil if the options have no mapping.
    package let mapping: MappingPlan?
    private let entities: [String: EntityImport]

    /// Throws `ImportError` if the options name entities or properties that the model does not have.
    package init(_ model: NSManagedObjectModel, options: ImportOptions) throws {
        let options = options.named(in: model)
        let byName = model.entitiesByName
        var entities: [String: EntityImport] = [:]
        var identity = options.mapping?.completing(options.identity, in: model) ?? options.identity
        if !options.honoursUserInfo { identity.usesDeclaredKeys = false }
        mapping = try options.mapping.map { try MappingPlan($0, model: model, identity: identity) }
        let identities = try IdentityRules(model, identity: identity)
        let rules = byName.mapValues(identities.rules)
        let keyRelationships = Set(rules.values.joined().flatMap(\.relationships))
        for (name, entity) in byName {
            entities[name] = EntityImport(
                entity, rules: rules[name] ?? [], newer: try Self.newerAttribute(of: entity, options),
                policies: try Self.policies(of: entity, options), keyRelationships: keyRelationships)
        }
        // A renamed entity is also found by its earlier name, unless another entity has that name.
        for entity in byName.values.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            guard let earlier = entity.renamingIdentifier, entities[earlier] == nil else { continue }
            entities[earlier] = entities[entity.name ?? ""]
        }
        self.entities = entities
        for entity in entities.values {
            for relationship in entity.relationships.values {
                relationship.destinationPlan = entities[relationship.destination]
            }
        }
        schema = GraphSchema(
            entities: entities.sorted { $0.key < $1.key }.map { $0.value.schemaEntity(named: $0.key) })
        try Self.check(options, byName)
    }

    /// Whether a relationship has the policy `replace`.
    package private(set) lazy var replacesMembers = entities.values.contains { entity in
        entity.relationships.values.contains { $0.policy == .replace }
    }

    /// The entity with that name, or with that name in an earlier version.
    package func entity(_ name: String) -> EntityImport? { entities[name] }

    package func entity(_ entity: NSEntityDescription) -> EntityImport? { entities[entity.name ?? ""] }

    // MARK: - Validating options

    private static func newerAttribute(of entity: NSEntityDescription, _ options: ImportOptions) throws -> String? {
        for ancestor in sequence(first: entity, next: \.superentity) {
            let name = ancestor.name ?? ""
            guard
                let attribute = options.newerAttributes[name]
                    ?? (options.honoursUserInfo ? ancestor.userInfo?["coral.newer"] as? String : nil)
            else { continue }
            guard entity.attributesByName[attribute] != nil else {
                throw ImportError(
                    .misuse, "\(name) has no attribute \"\(attribute)\", which is declared to order its versions.",
                    entity: name, property: attribute)
            }
            return attribute
        }
        return nil
    }

    private static func policies(
        of entity: NSEntityDescription, _ options: ImportOptions
    ) throws -> [String: RelationshipImportPolicy] {
        var policies: [String: RelationshipImportPolicy] = [:]
        for (name, relationship) in entity.relationshipsByName {
            if options.honoursUserInfo, let directive = relationship.userInfo?["coral.import"] as? String {
                guard let policy = RelationshipImportPolicy(rawValue: directive) else {
                    throw ImportError(
                        .misuse, "The directive coral.import is \"\(directive)\"; it must be set, union or replace.",
                        entity: entity.name, property: name)
                }
                policies[name] = policy
            }
            for ancestor in sequence(first: entity, next: \.superentity) {
                guard let policy = options.relationshipPolicies["\(ancestor.name ?? "").\(name)"] else { continue }
                policies[name] = policy
                break
            }
        }
        return policies
    }

    private static func check(_ options: ImportOptions, _ entities: [String: NSEntityDescription]) throws {
        for path in options.relationshipPolicies.keys.sorted() {
            let parts = path.split(separator: ".").map(String.init)
            guard parts.count == 2, entities[parts[0]]?.relationshipsByName[parts[1]] != nil else {
                throw ImportError(.misuse, "A relationship policy names \"\(path)\", which the model does not have.")
            }
        }
        try check(options.hooks, entities)
        let named = options.deletionScopes.keys.sorted() + options.newerAttributes.keys.sorted()
        for name in named where entities[name] == nil {
            throw ImportError(.misuse, NameSuggestion.noEntity(name, in: entities.keys))
        }
    }
}

extension ImportModel {
    /// Throws `ImportError` for hooks of entities and properties that the model does not have: they would never be called.
    fileprivate static func check(_ hooks: ImportHooks, _ entities: [String: NSEntityDescription]) throws {
        let records = [Array(hooks.shouldImport.keys), Array(hooks.willImport.keys), Array(hooks.didImport.keys)]
        for name in Set(records.joined()).sorted() where name != "*" && entities[name] == nil {
            let advice = NameSuggestion.advice(for: name, in: entities.keys)
            throw ImportError(.misuse, "A hook names the entity \"\(name)\", which the model does not have.\(advice)")
        }
        func check(_ names: some Collection<String>, _ has: (NSEntityDescription, String) -> Bool) throws {
            for name in names.sorted() {
                let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
                let owners =
                    parts.first == "*" ? Array(entities.values) : entities[parts.first ?? ""].map { [$0] } ?? []
                guard parts.count == 2, owners.contains(where: { has($0, parts[1]) }) else {
                    throw ImportError(.misuse, "A hook names \"\(name)\", which the model does not have.")
                }
            }
        }
        try check(hooks.value.keys) { $0.attributesByName[$1] != nil }
        try check(hooks.link.keys) { $0.relationshipsByName[$1] != nil }
    }
}

/// An entity in the form that an import needs.
package final class EntityImport {
    package let entity: NSEntityDescription
    package let name: String
    package let attributes: [String: AttributePlan]
    package let relationships: [String: RelationshipImport]
    /// Rules that identify its objects, in order of preference; the first rule for which a record has all values is
    /// used.
    package let rules: [IdentityRule]
    /// The attribute that orders versions of an object.
    package let newerAttribute: String?
    /// The attribute whose text names an object in messages.
    private(set) lazy var labelAttribute: String? = LabelAttribute.name(of: entity)

    package init(
        _ entity: NSEntityDescription, rules: [IdentityRule], newer: String?,
        policies: [String: RelationshipImportPolicy], keyRelationships: Set<String>
    ) {
        self.entity = entity
        name = entity.name ?? ""
        self.rules = rules
        newerAttribute = newer
        let properties = entity.propertiesByName
        var attributes: [String: AttributePlan] = [:]
        for (name, attribute) in entity.attributesByName {
            let known = AttributePlan(attribute)
            attributes[name] = known
            if let earlier = attribute.renamingIdentifier, properties[earlier] == nil { attributes[earlier] = known }
        }
        self.attributes = attributes
        var relationships: [String: RelationshipImport] = [:]
        for (name, relationship) in entity.relationshipsByName {
            let known = RelationshipImport(
                relationship, policy: policies[name], keyRelationships: keyRelationships)
            relationships[name] = known
            if let earlier = relationship.renamingIdentifier, properties[earlier] == nil {
                relationships[earlier] = known
            }
        }
        self.relationships = relationships
    }

    package func schemaEntity(named name: String) -> GraphSchema.Entity {
        GraphSchema.Entity(
            name: name, parent: entity.superentity?.name, isAbstract: entity.isAbstract,
            attributes: attributes.sorted { $0.key < $1.key }.map { name, attribute in
                GraphSchema.Attribute(name: name, type: attribute.type.type, elements: attribute.type.elements)
            },
            relationships: relationships.sorted { $0.key < $1.key }.map { name, relationship in
                GraphSchema.Relationship(
                    name: name, destination: relationship.destination, inverse: relationship.inverse?.name,
                    isToMany: relationship.isToMany, isOrdered: relationship.isOrdered)
            })
    }

    package func isKind(of other: EntityImport) -> Bool { entity.isKindOf(entity: other.entity) }
}

/// A relationship in the form that an import needs.
package final class RelationshipImport {
    package let name: String
    package let destination: String
    package let destinationEntity: NSEntityDescription?
    /// The destination entity as the import needs it. Unowned, because entities refer to each other in cycles.
    package fileprivate(set) unowned var destinationPlan: EntityImport?
    package let inverse: NSRelationshipDescription?
    package let isToMany: Bool
    package let isOrdered: Bool
    package let policy: RelationshipImportPolicy
    /// Whether the destinations belong to the object, so that an object that is populated replaces them: the
    /// relationship cascades and has an inverse, and no policy is declared for it.
    package let isOwned: Bool
    /// The name of the inverse if that is to-one and part of a key, so that a destination is found by its owner.
    package let parentInKeys: String?

    /// - Parameter keyRelationships: The names of the relationships that are parts of keys, of any entity.
    package init(
        _ relationship: NSRelationshipDescription, policy: RelationshipImportPolicy?, keyRelationships: Set<String>
    ) {
        name = relationship.name
        destinationEntity = relationship.destinationEntity
        destination = relationship.destinationEntity?.name ?? ""
        inverse = relationship.inverseRelationship
        isToMany = relationship.isToMany
        isOrdered = relationship.isOrdered
        self.policy = policy ?? .set
        parentInKeys = relationship.inverseRelationship.flatMap { inverse in
            inverse.isToMany || !keyRelationships.contains(inverse.name) ? nil : inverse.name
        }
        isOwned = policy == nil && relationship.deleteRule == .cascadeDeleteRule && inverse != nil
    }
}
