/// The mapping of one entity, compiled.
final class EntityMappingPlan {
    let entity: GraphSchema.Entity
    let attributes: [AttributeMappingPlan]
    let relationships: [RelationshipMappingPlan]
    /// The properties that identify an object; nil without an identity.
    let identity: [String]?
    let documentKey: String
    /// Determines the entity of an object in the document; nil means this one.
    let choose: ((ReadableValue) throws -> String?)?
    /// The value that is written so that a reader can determine the entity.
    let choiceMark: (path: MappedPath, value: String)?
    let functions: MappedFunctions?
    /// The members that are read.
    let members: Set<String>
    /// The properties of entities that inherit from this one: an object found by its key may be of any of them.
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
        var paths: [MappedPath] = attributes.flatMap { $0.read + $0.elements.flatMap(\.plan.read) }
        paths += relationships.flatMap { $0.read + $0.readReferences }
        if let choicePath { paths.append(choicePath) }
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

    /// Adds the properties of an entity that inherits from this one.
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

/// The mapping of one attribute, compiled.
struct AttributeMappingPlan {
    let attribute: GraphSchema.Attribute
    /// The paths where the value is read; empty if it is not read.
    let read: [MappedPath]
    /// The path where it is written; nil if it is not.
    var write: MappedPath?
    let functions: MappedFunctions?
    let dates: MappedDateCoder?
    let defaultValue: GraphValue?
    /// The elements of a composite attribute that have declarations of their own.
    var elements: [ElementMappingPlan] = []
}

/// The mapping of one element of a composite attribute, compiled.
struct ElementMappingPlan {
    /// The names of the composites inside the attribute, and of the element.
    let path: [String]
    var plan: AttributeMappingPlan
}

/// The mapping of one relationship, compiled.
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
