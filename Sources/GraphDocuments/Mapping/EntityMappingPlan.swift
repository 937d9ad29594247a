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
    /// For each name, which several of these entities may declare, the different declarations.
    private(set) var inheritedAttributes: [[AttributeMappingPlan]] = []
    private(set) var inheritedRelationships: [[RelationshipMappingPlan]] = []
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
        for attribute in descendant.attributes where self.attribute(attribute.attribute.name) == nil {
            inheritedAttributes.add(attribute, name: \.attribute.name) { $0.isSame(as: attribute) }
        }
        for relationship in descendant.relationships where self.relationship(relationship.relationship.name) == nil {
            inheritedRelationships.add(relationship, name: \.relationship.name) { $0.isSame(as: relationship) }
        }
        allMembers.formUnion(descendant.members)
    }
}

extension Array {
    /// Adds a declaration to those with its name, if it is not the same as one of them.
    fileprivate mutating func add<Plan>(
        _ plan: Plan, name: (Plan) -> String, isSame: (Plan) -> Bool
    ) where Element == [Plan] {
        guard let position = firstIndex(where: { $0.first.map(name) == name(plan) }) else { return append([plan]) }
        if !self[position].contains(where: isSame) { self[position].append(plan) }
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

    /// Whether both read the same values. Functions cannot be compared, so plans with functions are different.
    fileprivate func isSame(as other: AttributeMappingPlan) -> Bool {
        attribute == other.attribute && read == other.read && dates?.forms == other.dates?.forms
            && functions == nil && other.functions == nil && elements.isEmpty && other.elements.isEmpty
    }

    /// Whether two values that this plan and another one have read from one place are the same, in the type of either.
    func agrees(_ value: GraphValue, with other: AttributeMappingPlan, _ otherValue: GraphValue) -> Bool {
        value == otherValue || value.read(as: other.attribute.type) == otherValue
            || otherValue.read(as: attribute.type) == value
    }
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

    /// Whether both read the same objects. Functions cannot be compared, so plans with functions are different.
    fileprivate func isSame(as other: RelationshipMappingPlan) -> Bool {
        relationship == other.relationship && read == other.read && readReferences == other.readReferences
            && identity == other.identity && isKeyed == other.isKeyed && functions == nil && other.functions == nil
    }
}
