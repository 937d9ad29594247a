/// One object of a graph as a plain value, as it is written to documents and read from them.
///
///     let note = GraphRecord(
///         id: "n", entity: "Note", attributes: [GraphAttribute(name: "title", value: .string("Harvest"))])
///     try context.importObjects(from: .records([note]))
///
/// An absent property is not changed by an importer. Null clears a property, an empty to-many removes its members.
public struct GraphRecord: Sendable, Hashable {
    /// The record's id in its document.
    public var id: RecordID
    /// The name of the object's own entity, not an ancestor's.
    public var entity: String
    /// Attributes in a stable order: the model's, or the document's.
    public var attributes: [GraphAttribute]
    /// Relationships in a stable order: the model's, or the document's.
    public var relationships: [GraphRelationship]
    /// Whether the record is a tombstone, which means that the object is to be deleted.
    public var isDeleted: Bool

    /// Creates a record.
    public init(
        id: RecordID, entity: String, attributes: [GraphAttribute] = [], relationships: [GraphRelationship] = [],
        isDeleted: Bool = false
    ) {
        self.id = id
        self.entity = entity
        self.attributes = attributes
        self.relationships = relationships
        self.isDeleted = isDeleted
    }

    /// The value of an attribute, or nil if it is absent. Linear in the number of attributes.
    public func value(of attribute: String) -> GraphValue? {
        attributes.first { $0.name == attribute }?.value
    }

    /// The target of a relationship, or nil if it is absent. Linear in the number of relationships.
    public func target(of relationship: String) -> RelationshipTarget? {
        relationships.first { $0.name == relationship }?.target
    }
}

/// A relationship of a record: its name and the ids of its destinations.
public struct GraphRelationship: Sendable, Hashable {
    /// The relationship's name.
    public var name: String
    /// The destinations.
    public var target: RelationshipTarget
    /// Whether the order of a to-many matters. If it does not, writers expect sorted ids.
    public var isOrdered: Bool

    /// Creates a relationship.
    public init(name: String, target: RelationshipTarget, isOrdered: Bool = false) {
        self.name = name
        self.target = target
        self.isOrdered = isOrdered
    }
}

/// The destinations of a relationship.
public enum RelationshipTarget: Sendable, Hashable {
    /// One record, or none.
    case toOne(RecordID?)
    /// Any number of records.
    case toMany([RecordID])
    /// A to-many that is null in the document, not an empty list.
    case nullToMany

    /// The ids of the destinations.
    package var ids: [RecordID] {
        switch self {
        case .toOne(let id): id.map { [$0] } ?? []
        case .toMany(let ids): ids
        case .nullToMany: []
        }
    }
}
