/// One object of a graph as a plain value: what is written to documents and read from them.
///
/// What is not listed is absent, and absent means "leave as it is" to an importer. Null means "clear", an empty to-many
/// "empty".
public struct GraphRecord: Sendable, Hashable {
    /// The record's name in its document.
    public var id: RecordID
    /// The name of the object's own entity, not an ancestor's.
    public var entity: String
    /// Attributes in a stable order: the model's, or the document's.
    public var attributes: [GraphAttribute]
    /// Relationships in a stable order: the model's, or the document's.
    public var relationships: [GraphRelationship]
    /// Whether the record is a tombstone: it says that the object is to be deleted.
    public var isDeleted: Bool

    /// A record.
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

    /// The value of an attribute, or nil where the record does not mention it. Linear in the number of attributes.
    public func value(of attribute: String) -> GraphValue? {
        attributes.first { $0.name == attribute }?.value
    }

    /// The target of a relationship, or nil where the record does not mention it. Linear in the number of relationships.
    public func target(of relationship: String) -> RelationshipTarget? {
        relationships.first { $0.name == relationship }?.target
    }
}

/// A relationship of a record: its name and the ids of the records it leads to.
public struct GraphRelationship: Sendable, Hashable {
    /// The relationship's name.
    public var name: String
    /// Where it leads.
    public var target: RelationshipTarget
    /// Whether the order of a to-many says something. Where it does not, writers expect the ids sorted by who made them.
    public var isOrdered: Bool

    /// A relationship.
    public init(name: String, target: RelationshipTarget, isOrdered: Bool = false) {
        self.name = name
        self.target = target
        self.isOrdered = isOrdered
    }
}

/// Where a relationship leads.
public enum RelationshipTarget: Sendable, Hashable {
    /// One record, or none.
    case toOne(RecordID?)
    /// Any number of records.
    case toMany([RecordID])
    /// A to-many for which the document says null, not an empty list.
    case nullToMany

    /// The ids that the relationship leads to.
    public var ids: [RecordID] {
        switch self {
        case .toOne(let id): id.map { [$0] } ?? []
        case .toMany(let ids): ids
        case .nullToMany: []
        }
    }
}
