import CoreData
import GraphDocuments

/// What objects were before a part of a history, from the old values that a store keeps beside it.
///
/// It is complete unless a transaction has no old values, or an update or a deletion concerns what they do not contain: the
/// order of members, to-many relationships without an inverse, composite attributes, and values that may be in external files.
struct HistoryReversal {
    /// Whether everything is known that the changes have replaced.
    private(set) var isComplete = true
    /// The first old values of objects, by the names of attributes and to-one relationships; NSNull for none.
    private var values: [NSManagedObjectID: [String: Any]] = [:]
    /// Of many-to-many relationships, the objects that were or were not members before the first change that concerns them.
    private var members: [NSManagedObjectID: [String: [NSManagedObjectID: Bool]]] = [:]

    /// Adds a change.
    ///
    /// - Parameter fate: What the changes before have done to the object.
    mutating func add(_ change: NSPersistentHistoryChange, after fate: HistoryFold.Fate?) throws {
        guard isComplete else { return }
        switch (fate, change.changeType) {
        case (.deleted?, .insert): isComplete = false
        case (_, .insert), (.inserted?, .update): return
        case (.inserted?, .delete): members[change.changedObjectID] = nil
        default: isComplete = try addOldValues(of: change)
        }
    }

    /// False where something is not known.
    private mutating func addOldValues(of change: NSPersistentHistoryChange) throws -> Bool {
        #if canImport(Darwin) || CORAL_PUBLIC_API
            return false
        #else
            let id = change.changedObjectID
            let properties =
                change.changeType == .delete ? Set(id.entity.propertiesByName.values) : change.updatedProperties
            guard let properties, properties.allSatisfy(Self.isReversible), let changes = try change.propertyChanges()
            else { return false }
            for (name, change) in changes {
                switch change {
                case .value(let old, _):
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
        #endif
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

    /// Makes it incomplete.
    mutating func invalidate() { isComplete = false }

    // MARK: - Old records

    /// What an attribute had before; nil where no change has set it.
    func value(of attribute: NSAttributeDescription, _ id: NSManagedObjectID) throws -> GraphValue? {
        guard let value = values[id]?[attribute.name] else { return nil }
        if attribute.attributeType == .transformableAttributeType {
            return try TransformableReader(attribute).value(value)
        }
        return GraphValue(value, declaredAs: GraphSchema.Attribute(attribute))
    }

    /// What a to-one relationship led to before; nil where no change has set it.
    func target(of relationship: String, _ id: NSManagedObjectID) -> NSManagedObjectID?? {
        guard let value = values[id]?[relationship] else { return nil }
        return .some(value as? NSManagedObjectID)
    }

    /// Which objects were members of a many-to-many relationship before, and which were not, of those that changes concern.
    func members(of relationship: String, _ id: NSManagedObjectID) -> [NSManagedObjectID: Bool] {
        members[id]?[relationship] ?? [:]
    }
}
