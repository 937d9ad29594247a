/// What a mapping means for one entity: decided once, run for each record.
final class EntityMappingPlan {
    let entity: GraphSchema.Entity
    let attributes: [AttributeMappingPlan]
    let relationships: [RelationshipMappingPlan]
    /// The properties that identify an object; nil where nothing says it.
    let identity: [String]?
    let documentKey: String
    /// The name of the entity that an object of the document is of; nil for this one.
    let choose: ((ReadableValue) throws -> String?)?
    /// What is written so that a reader can choose.
    let choiceMark: (path: MappedPath, value: String)?
    let functions: MappedFunctions?
    /// The members that something is read from.
    let members: Set<String>
    /// What only entities that inherit from this one have: an object found by its key may be of any of them.
    private(set) var inheritedAttributes: [AttributeMappingPlan] = []
    private(set) var inheritedRelationships: [RelationshipMappingPlan] = []
    private(set) var allMembers: Set<String> = []
    /// The key of each property, for messages.
    let keys: [String: String]
    private let attributePositions: [String: Int]
    private let relationshipPositions: [String: Int]

    var name: String { entity.name }

    init(
        _ entity: GraphSchema.Entity, attributes: [AttributeMappingPlan], relationships: [RelationshipMappingPlan],
        identity: [String]?, documentKey: String, choose: ((ReadableValue) throws -> String?)?,
        choiceMark: (path: MappedPath, value: String)?, choicePath: MappedPath?, functions: MappedFunctions?
    ) {
        self.entity = entity
        self.attributes = attributes
        self.relationships = relationships
        self.identity = identity
        self.documentKey = documentKey
        self.choose = choose
        self.choiceMark = choiceMark
        self.functions = functions
        attributePositions = Dictionary(
            attributes.enumerated().map { ($1.attribute.name, $0) }, uniquingKeysWith: { first, _ in first })
        relationshipPositions = Dictionary(
            relationships.enumerated().map { ($1.relationship.name, $0) }, uniquingKeysWith: { first, _ in first })
        let paths =
            attributes.flatMap(\.read) + relationships.flatMap { $0.read + $0.readReferences }
            + [choicePath].compactMap { $0 }
        members = Set(paths.compactMap(\.firstMember))
        allMembers = members
        var keys: [String: String] = [:]
        for attribute in attributes { keys[attribute.attribute.name] = attribute.read.first?.text }
        for relationship in relationships { keys[relationship.relationship.name] = relationship.read.first?.text }
        self.keys = keys
    }

    func attribute(_ name: String) -> AttributeMappingPlan? { attributePositions[name].map { attributes[$0] } }

    func relationship(_ name: String) -> RelationshipMappingPlan? {
        relationshipPositions[name].map { relationships[$0] }
    }

    /// Takes what an entity has that inherits from this one.
    func adopt(_ descendant: EntityMappingPlan) {
        for attribute in descendant.attributes
        where self.attribute(attribute.attribute.name) == nil
            && !inheritedAttributes.contains(where: { $0.attribute.name == attribute.attribute.name })
        {
            inheritedAttributes.append(attribute)
        }
        for relationship in descendant.relationships
        where self.relationship(relationship.relationship.name) == nil
            && !inheritedRelationships.contains(where: { $0.relationship.name == relationship.relationship.name })
        {
            inheritedRelationships.append(relationship)
        }
        allMembers.formUnion(descendant.members)
    }
}

/// What a mapping means for one attribute.
struct AttributeMappingPlan {
    let attribute: GraphSchema.Attribute
    /// Where the value may stand; empty where it is not read.
    let read: [MappedPath]
    /// Where it is written; nil where it is not.
    var write: MappedPath?
    let functions: MappedFunctions?
    let dates: MappedDateCoder?
    let defaultValue: GraphValue?
}

/// What a mapping means for one relationship.
struct RelationshipMappingPlan {
    let relationship: GraphSchema.Relationship
    let read: [MappedPath]
    let readReferences: [MappedPath]
    var write: MappedPath?
    let writeReferences: MappedPath?
    let functions: MappedFunctions?
    let identity: [String]?
    let isKeyed: Bool
}
