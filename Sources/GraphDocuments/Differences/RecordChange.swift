/// The change of one record between two states of a graph.
public enum RecordChange: Sendable, Hashable {
    /// An inserted record, in its new state.
    case inserted(GraphRecord)
    /// A changed record, with its old and new values.
    case updated(RecordUpdate)
    /// A deleted record, in its old state.
    case deleted(GraphRecord)

    /// The changed record, with its id in the new state, or in the old one if it is deleted.
    public var subject: RecordSubject {
        switch self {
        case .inserted(let record), .deleted(let record): RecordSubject(entity: record.entity, id: record.id)
        case .updated(let update): RecordSubject(entity: update.entity, id: update.id)
        }
    }

    /// Identifies the change in its delta. One delta may contain the deletion of a record and the update of another that
    /// gets its id.
    var place: Place {
        if case .updated(let update) = self { return Place(subject: subject, isRenamed: update.oldID != .same) }
        return Place(subject: subject, isRenamed: false)
    }

    struct Place: Hashable, Comparable {
        let subject: RecordSubject
        let isRenamed: Bool

        static func < (left: Place, right: Place) -> Bool {
            left.subject == right.subject ? !left.isRenamed && right.isRenamed : left.subject < right.subject
        }
    }

    /// The change without old values. Removed and added members of an unordered relationship are kept, since the new
    /// state depends on them.
    var forgettingOld: RecordChange {
        switch self {
        case .inserted: return self
        case .deleted(let record): return .deleted(GraphRecord(id: record.id, entity: record.entity))
        case .updated(var update):
            for index in update.attributes.indices { update.attributes[index].old = nil }
            for index in update.relationships.indices {
                guard case .replaced(_, let new) = update.relationships[index].change else { continue }
                update.relationships[index].change = .replaced(old: nil, new: new)
            }
            return .updated(update)
        }
    }

    /// The inverse change.
    package var inverse: RecordChange {
        switch self {
        case .inserted(let record): .deleted(record)
        case .updated(let update): .updated(update.inverse)
        case .deleted(let record): .inserted(record)
        }
    }
}

/// The record of a change. Records of two entities with the same id are different.
public struct RecordSubject: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The record's entity.
    public var entity: String
    /// The record's id.
    public var id: RecordID

    /// Creates the subject of an entity with an id.
    package init(entity: String, id: RecordID) {
        self.entity = entity
        self.id = id
    }

    public var description: String { id.entity == nil ? "\(entity) \(id)" : "\(id)" }

    /// Sorted by entity, then by primary key as a number, then by the UTF-8 of the text.
    public static func < (left: RecordSubject, right: RecordSubject) -> Bool {
        if left.entity != right.entity { return left.entity < right.entity }
        return left.id.precedes(right.id)
    }
}

extension RecordID {
    /// Whether the id sorts before another: primary keys as numbers, then texts by their UTF-8.
    func precedes(_ other: RecordID) -> Bool {
        switch (primaryKey, other.primaryKey) {
        case (let mine?, let theirs?) where mine != theirs: mine < theirs
        case (_?, nil): true
        case (nil, _?): false
        default: text.precedesByUTF8(other.text)
        }
    }
}

/// The changes of a record that exists in both states.
public struct RecordUpdate: Sendable, Hashable {
    /// The record's id in the new state.
    public var id: RecordID
    /// The record's entity.
    public var entity: String
    /// Sorted by name.
    public var attributes: [AttributeChange]
    /// Sorted by name.
    public var relationships: [RelationshipChange]
    /// The record's id in the old state. It differs if records are named by natural keys and the key has changed.
    package var oldID: OldID

    /// The id of an updated record in the old state.
    package enum OldID: Sendable, Hashable {
        /// That of the new state.
        case same
        /// Another one: the natural key has changed.
        case renamed(from: RecordID)
        /// Not known: the natural key may have changed. See `GraphDelta.updatesWithUnknownKey`.
        case unknown
    }

    /// Creates an update of a record's values and relationships.
    package init(
        id: RecordID, oldID: OldID = .same, entity: String, attributes: [AttributeChange] = [],
        relationships: [RelationshipChange] = []
    ) {
        self.id = id
        self.oldID = oldID
        self.entity = entity
        self.attributes = attributes
        self.relationships = relationships
    }

    /// Whether nothing is changed.
    public var isEmpty: Bool { attributes.isEmpty && relationships.isEmpty && oldID == .same }

    /// The record's id in the old state; nil if it is not known.
    public var formerID: RecordID? {
        switch oldID {
        case .same: id
        case .renamed(let former): former
        case .unknown: nil
        }
    }

    var inverse: RecordUpdate {
        // If the old id is not known, the new one names the record in both states.
        var inverse = RecordUpdate(
            id: formerID ?? id, entity: entity, attributes: attributes.map(\.inverse),
            relationships: relationships.map(\.inverse))
        if case .renamed = oldID { inverse.oldID = .renamed(from: id) }
        return inverse
    }
}

/// The old and the new value of an attribute; nil if the record does not contain it.
public struct AttributeChange: Sendable, Hashable {
    /// The attribute's name.
    public var name: String
    /// The value before.
    public var old: GraphValue?
    /// The value after.
    public var new: GraphValue?

    /// Creates the change of an attribute.
    package init(name: String, old: GraphValue?, new: GraphValue?) {
        self.name = name
        self.old = old
        self.new = new
    }

    var inverse: AttributeChange { AttributeChange(name: name, old: new, new: old) }
}

/// The change of a relationship.
public struct RelationshipChange: Sendable, Hashable {
    /// The relationship's name.
    public var name: String
    /// Whether the order of members matters.
    public var isOrdered: Bool
    /// The change of its members.
    public var change: Change

    /// The change of a relationship's members.
    public enum Change: Sendable, Hashable {
        /// The old and the new target; nil if the record does not contain it.
        case replaced(old: RelationshipTarget?, new: RelationshipTarget?)
        /// The members removed from and added to an unordered to-many, each sorted.
        case members(removed: [RecordID], added: [RecordID])
    }

    /// Creates the change of a relationship.
    package init(name: String, isOrdered: Bool, change: Change) {
        self.name = name
        self.isOrdered = isOrdered
        self.change = change
    }

    /// Creates the change between two targets; nil if they are equal.
    init?(name: String, isOrdered: Bool, from old: RelationshipTarget?, to new: RelationshipTarget?) {
        guard old != new else { return nil }
        self.name = name
        self.isOrdered = isOrdered
        if !isOrdered, case .toMany(let before)? = old, case .toMany(let after)? = new {
            let (was, isNow) = (Set(before), Set(after))
            change = .members(removed: before.filter { !isNow.contains($0) }, added: after.filter { !was.contains($0) })
        } else {
            change = .replaced(old: old, new: new)
        }
    }

    var inverse: RelationshipChange {
        var inverse = self
        switch change {
        case .replaced(let old, let new): inverse.change = .replaced(old: new, new: old)
        case .members(let removed, let added): inverse.change = .members(removed: added, added: removed)
        }
        return inverse
    }
}
