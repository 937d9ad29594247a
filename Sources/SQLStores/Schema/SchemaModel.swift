import ManagedObjects
import PredicateLanguage

// A model as its stores need it. Schema, statements and queries know these values and no description; `SchemaDescriptions.swift` computes
// them.

/// The entities and relationships of a model, as plain values.
///
/// Entities refer to each other by their indexes in the model, relationships by their numbers.
package final class SchemaModel: Sendable {
    /// By index.
    package let entities: [SchemaEntity]
    /// By number.
    package let relationships: [SchemaRelationship]

    init(entities: [SchemaEntity], relationships: [SchemaRelationship]) {
        self.entities = entities
        self.relationships = relationships
    }

    /// Cost: a step for each entity.
    package func entity(named name: String) -> SchemaEntity? { entities.first { $0.name == name } }

    /// The entity and its ancestors, the root first.
    func lineage(of entity: SchemaEntity) -> [SchemaEntity] {
        var lineage = [entity]
        while let superentity = lineage[lineage.count - 1].superentity { lineage.append(entities[superentity]) }
        return lineage.reversed()
    }

    /// A relationship of the entity, its own or an inherited one.
    package func relationship(named name: String, of entity: SchemaEntity) -> SchemaRelationship? {
        entity.relationshipNumbers[name].map { relationships[$0] }
    }

    /// The relationships of the entity, with the inherited ones, sorted by name.
    func relationships(of entity: SchemaEntity) -> [SchemaRelationship] {
        entity.relationshipNumbers.values.map { relationships[$0] }.sorted { $0.name < $1.name }
    }

    package func inverse(of relationship: SchemaRelationship) -> SchemaRelationship? {
        relationship.inverse.map { relationships[$0] }
    }
}

/// An entity. A class, because schemas and statements pass it on.
package final class SchemaEntity: Sendable {
    /// The index in the model.
    package let index: Int
    package let name: String
    /// The name in the previous version.
    let formerName: String
    package let superentity: Int?
    /// The root of the hierarchy.
    package let root: Int
    /// The indexes of the entity and its descendants.
    package let subtree: Range<Int>
    package let isAbstract: Bool
    /// The values of a row: those of the layout of the entity's objects, in the same order.
    package let slots: [SchemaSlot]
    /// In the order of the layout's.
    package let toMany: [SchemaRelationship]
    let fields: [String: SchemaField]
    /// The attributes that the entity itself declares, sorted by name.
    let attributes: [SchemaAttribute]
    /// The numbers of all relationships, by name.
    let relationshipNumbers: [String: Int]
    /// The numbers of the relationships that the entity itself declares, sorted by name.
    let ownRelationships: [Int]
    /// The names of the properties that the entity itself declares.
    let propertyNames: [String]
    /// The fetch indexes and uniqueness constraints that the entity itself declares.
    let indexes: [SchemaIndex]
    package let constraints: [[String]]
    /// Whether the model says that the column with the entity's number has no index.
    let omitsEntityIndex: Bool
    /// The attributes whose values the history preserves, as old models list them.
    let preservedNames: Set<String>

    init(
        index: Int, name: String, formerName: String, superentity: Int?, root: Int, subtree: Range<Int>,
        isAbstract: Bool,
        slots: [SchemaSlot], toMany: [SchemaRelationship], fields: [String: SchemaField], attributes: [SchemaAttribute],
        relationshipNumbers: [String: Int], ownRelationships: [Int], propertyNames: [String], indexes: [SchemaIndex],
        constraints: [[String]], omitsEntityIndex: Bool, preservedNames: Set<String>
    ) {
        self.index = index
        self.name = name
        self.formerName = formerName
        self.superentity = superentity
        self.root = root
        self.subtree = subtree
        self.isAbstract = isAbstract
        self.slots = slots
        self.toMany = toMany
        self.fields = fields
        self.attributes = attributes
        self.relationshipNumbers = relationshipNumbers
        self.ownRelationships = ownRelationships
        self.propertyNames = propertyNames
        self.indexes = indexes
        self.constraints = constraints
        self.omitsEntityIndex = omitsEntityIndex
        self.preservedNames = preservedNames
    }

    /// Whether the entity is the one with an index, or inherits from it.
    func isKind(of other: SchemaEntity) -> Bool { other.subtree.contains(index) }

    /// The slot of a property, if it has one.
    package func slot(named name: String) -> Int? {
        if case .slot(let slot)? = fields[name] { slot } else { nil }
    }

    /// The slot with the position of the members of a relationship; the relationship is the one by which the rows refer to their owner.
    package func positionSlot(of relationship: Int) -> Int? {
        slots.firstIndex { $0.kind == .position && $0.relationship == relationship }
    }
}

/// Where a property is: as in the layout of objects.
enum SchemaField: Sendable {
    case slot(Int)
    case toMany(Int)
    case composite
    case fetched
}

/// One value of a row.
package struct SchemaSlot: @unchecked Sendable {  // because the initial value is never changed
    package let kind: EntityLayout.Slot.Kind
    /// Nil for a slot that objects do not show. The name of an element of a composite attribute is a path.
    package let name: String?
    /// The name of the attribute or relationship itself; of a hidden slot, of the relationship that it belongs to.
    package let property: String
    /// The number of the relationship, or of the one that a hidden slot belongs to.
    package let relationship: Int?
    /// The destination of a to-one relationship.
    package let destination: Int?
    /// False for transient properties, which have no column.
    package let isPersistent: Bool
    package let isOptional: Bool
    /// The value of a new object.
    package let initial: Value
    package let attribute: SchemaAttribute?
    /// Of transformable attributes.
    let coding: TransformableAttribute?

    package var isHidden: Bool { name == nil }
}

/// An attribute that an entity declares.
package struct SchemaAttribute: Sendable {
    package let name: String
    let entity: Int
    /// Whether the model has the deprecated flag of an index.
    let isIndexed: Bool
    let allowsExternalStorage: Bool
    /// Whether the history preserves the value of a deleted object.
    let isPreserved: Bool
    package let isDerived: Bool
    /// Nil for a derivation of an unknown form too.
    package let derivation: Derivation?
    /// The derivation as the model writes it.
    let derivationText: String?
}

package struct SchemaRelationship: Sendable {
    package let number: Int
    package let name: String
    /// The entity that declares it.
    package let entity: Int
    package let destination: Int?
    /// The number of the inverse.
    package let inverse: Int?
    package let isToMany: Bool
    package let isOrdered: Bool
    package let isTransient: Bool
    let isOptional: Bool
    let minimumCount: Int
    let maximumCount: Int
    let deleteRule: NSDeleteRule
    /// How the store represents a to-many relationship; nil for others.
    package let storage: EntityLayout.Storage?

    var isReflexive: Bool { inverse == number }
}

/// A fetch index.
struct SchemaIndex: @unchecked Sendable {  // because its expressions are never changed
    struct Element {
        /// The name of the property.
        let name: String?
        /// The expression that is indexed instead of a property.
        let expression: ExpressionNode?
        let isRelationship: Bool
        let isSpatial: Bool
        let isAscending: Bool
    }

    let name: String
    let elements: [Element]
    /// The condition of the rows in the index; nil means all.
    let condition: PredicateNode?
}
