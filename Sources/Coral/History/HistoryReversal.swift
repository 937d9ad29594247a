import CoreData
import GraphDocuments

/// The values of objects before a range of transactions, from the old values that a store keeps beside its history.
///
/// It is complete unless a transaction has no old values, or an update or a deletion concerns a property without old values:
/// the order of members, to-many relationships without an inverse, composite attributes, and values that may be in external
/// files.
struct HistoryReversal {
    /// Whether the old value of every changed property is known.
    private(set) var isComplete = true
    /// The first old values of objects, by the names of attributes and to-one relationships; NSNull for none.
    private var values: [NSManagedObjectID: [String: Any]] = [:]
    /// For many-to-many relationships: whether an object was a member before the first change of its membership.
    private var members: [NSManagedObjectID: [String: [NSManagedObjectID: Bool]]] = [:]

    /// Adds a change.
    ///
    /// - Parameter fate: The combined effect of the previous changes on the object.
    mutating func add(_ change: NSPersistentHistoryChange, after fate: HistoryFold.Fate?) throws {
        guard isComplete else { return }
        switch (fate, change.changeType) {
        case (.deleted?, .insert): isComplete = false
        case (_, .insert), (.inserted?, .update): return
        case (.inserted?, .delete): members[change.changedObjectID] = nil
        default: isComplete = try addOldValues(of: change)
        }
    }

    /// Adds the old values of a change. Returns false if one of them is not known.
    private mutating func addOldValues(of change: NSPersistentHistoryChange) throws -> Bool {
        let id = change.changedObjectID
        let properties =
            change.changeType == .delete ? Set(id.entity.propertiesByName.values) : change.updatedProperties
        guard let properties, properties.allSatisfy(Self.isReversible),
            let changes = try Engine.current.oldValues(of: change)
        else { return false }
        for (name, change) in changes {
            switch change {
            case .value(let old):
                if values[id]?[name] == nil { values[id, default: [:]][name] = old ?? NSNull() }
            case .members(let removed, let added):
                guard let inverse = id.entity.relationshipsByName[name]?.inverseRelationship else { return false }
                for (others, wasMember) in [(removed, true), (added, false)] {
                    for other in others {
                        note(other, of: id, name, wasMember)
                        note(id, of: other, inverse.name, wasMember)
                    }
                }
            }
        }
        return true
    }

    private mutating func note(
        _ member: NSManagedObjectID, of id: NSManagedObjectID, _ relationship: String, _ wasMember: Bool
    ) {
        if members[id]?[relationship]?[member] == nil {
            members[id, default: [:]][relationship, default: [:]][member] = wasMember
        }
    }

    private static func isReversible(_ property: NSPropertyDescription) -> Bool {
        if property.isTransient { return true }
        if let attribute = property as? NSAttributeDescription {
            return !attribute.allowsExternalBinaryDataStorage && attribute.compositeElements.isEmpty
        }
        guard let relationship = property as? NSRelationshipDescription else { return true }
        guard let inverse = relationship.inverseRelationship else { return !relationship.isToMany }
        return !relationship.isOrdered && !inverse.isOrdered
    }

    /// Marks the values as incomplete.
    mutating func invalidate() { isComplete = false }

    // MARK: - Old records

    /// The old value of an attribute; nil if no change has set it.
    func value(of attribute: NSAttributeDescription, _ id: NSManagedObjectID) throws -> GraphValue? {
        guard let value = values[id]?[attribute.name] else { return nil }
        if attribute.attributeType == .transformableAttributeType {
            return try TransformableReader(attribute).value(value)
        }
        return GraphValue(value, declaredAs: GraphSchema.Attribute(attribute))
    }

    /// The old destination of a to-one relationship; nil if no change has set it.
    func target(of relationship: String, _ id: NSManagedObjectID) -> NSManagedObjectID?? {
        guard let value = values[id]?[relationship] else { return nil }
        return .some(value as? NSManagedObjectID)
    }

    /// For each object that changes have added or removed: whether it was a member of the relationship before.
    func members(of relationship: String, _ id: NSManagedObjectID) -> [NSManagedObjectID: Bool] {
        members[id]?[relationship] ?? [:]
    }
}
