import Foundation
import PredicateLanguage

/// The kind of a change.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// The object was inserted.
    case insert = 0
    /// The object was updated.
    case update = 1
    /// The object was deleted.
    case delete = 2
}

/// The change of one object in a transaction.
open class NSPersistentHistoryChange: NSObject, NSCopying,
    @unchecked Sendable  // because it is immutable after its transaction is created
{
    private let row: HistoryChangeRow
    private let transactionRow: HistoryTransactionRow
    private let origin: HistoryOrigin
    private weak var owner: NSPersistentHistoryTransaction?

    init(_ row: HistoryChangeRow, of transaction: HistoryTransactionRow, origin: HistoryOrigin) {
        self.row = row
        transactionRow = transaction
        self.origin = origin
    }

    final func didEnter(_ transaction: NSPersistentHistoryTransaction) { owner = transaction }

    // MARK: - Properties

    /// The number of the change in the store: later changes have higher numbers.
    open var changeID: Int64 { row.number }

    /// The ID of the changed object, which may have been deleted since.
    open var changedObjectID: NSManagedObjectID { origin.objectID(of: row) }

    /// The kind of the change.
    open var changeType: NSPersistentHistoryChangeType { row.type }

    /// The preserved values of a deleted object: the attributes with `preservesValueInHistoryOnDeletion` by their
    /// names, with `NSNull` for those without a value. Nil unless the object was deleted and its entity has such
    /// attributes. Values that may be kept in external files are never preserved.
    open var tombstone: [AnyHashable: Any]? {
        guard row.type == .delete, !row.tombstone.isEmpty else { return nil }
        var values: [AnyHashable: Any] = [:]
        let slots = origin.slots(of: row)
        for (index, value) in row.tombstone {
            let slot = slots[index]
            if let name = slot.name { values[name] = origin.publicValue(value, of: slot) ?? NSNull() }
        }
        return values
    }

    /// The old and new values of the object's properties, by name: for an update, of the properties that have changed; for
    /// a deletion, of all. Nil if the store has not kept them (see ``HistoryOldValuesOption``), and for insertions.
    ///
    /// Not included are to-many relationships whose inverse is a to-one (the changes of their members contain the inverse),
    /// the order of members, and values that may be in external files. Composite attributes are represented by their
    /// elements, under names such as `address.street`. An addition to Core Data's API. Cost: a statement, and one or two
    /// for each many-to-many relationship of the entity.
    ///
    /// - Throws: An error of the store if it cannot be read.
    public final func propertyChanges() throws -> [String: HistoryPropertyChange]? {
        guard let coordinator = origin.coordinator,
            let store = coordinator.store(number: origin.storeNumber) as? any HistoryStore,
            let kept = try store.oldValues(of: row, transaction: transactionRow.number)
        else { return nil }
        var changes: [String: HistoryPropertyChange] = [:]
        let slots = origin.slots(of: row)
        for (index, old, new) in kept.values {
            let slot = slots[index]
            changes[slot.name ?? ""] = .value(
                old: origin.publicValue(old, of: slot), new: origin.publicValue(new, of: slot))
        }
        for (relationship, removed, added) in kept.members {
            changes[relationship] = .members(
                removed: removed.map(coordinator.objectID(for:)), added: added.map(coordinator.objectID(for:)))
        }
        return changes
    }

    /// The transaction. It has no changes if the original transaction is not retained or the request was for changes
    /// only.
    open var transaction: NSPersistentHistoryTransaction? {
        owner ?? NSPersistentHistoryTransaction(transactionRow, changes: nil, origin: origin)
    }

    /// The properties that an update has changed; nil if the change is not an update, or if the store keeps them in the
    /// form of another version of the entity. An attribute that was set to the value that it already had may be
    /// included.
    open var updatedProperties: Set<NSPropertyDescription>? {
        guard row.type == .update, let mask = row.mask else { return nil }
        let properties = origin.entities[Int(row.entity)].propertiesByName
        return origin.masks.properties(in: mask, entityIndex: Int(row.entity)).map { names in
            Set(names.compactMap { properties[$0] })
        }
    }

    /// False if ``updatedProperties`` may contain properties that were not changed: stores of macOS 10.13 and iOS 11
    /// have random bits there. An addition to Core Data's API.
    public final var updatedPropertiesAreReliable: Bool { origin.masks.areReliable }

    // MARK: - Fetching

    /// The entity of fetch requests for changes, with the keys that predicates and sort descriptors may use.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.shared.change }

    /// The entity of fetch requests for changes, with the keys that predicates and sort descriptors may use.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }

    /// A new request for changes, for ``NSPersistentHistoryChangeRequest/fetchRequest``. Its predicate and sort
    /// descriptors may use `changeID`, `changedObjectID`, `changedEntity`, `changeType`, `updatedProperties` (names),
    /// `tombstone` and the keys of its `transaction`.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entityDescription
        return request
    }

    // MARK: - As an object

    /// Returns the change itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Two changes are equal when they have the same number in the same store.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        return row.number == other.row.number && origin.storeIdentifier == other.origin.storeIdentifier
    }

    open override var hash: Int { row.number.hashValue }

    open override var description: String {
        "<NSPersistentHistoryChange \(row.number), \(row.type) \(changedObjectID.uriRepresentation().absoluteString)>"
    }

    /// The ID of the change itself.
    final var ownID: NSManagedObjectID { origin.changeID(row.number) }
}

extension NSPersistentHistoryChange: PredicateSubject {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "changeID": return changeID
        case "changeType": return changeType.rawValue
        case "changedObjectID": return changedObjectID
        case "changedEntity": return changedObjectID.entity
        case "updatedProperties": return updatedProperties.map { Set($0.map(\.name)) }
        case "tombstone": return tombstone.map(HistoryTombstone.init)
        case "transaction": return transaction
        case "self": return self
        default: throw HistoryEntities.unknownKey(key, of: "change")
        }
    }
}

/// A tombstone as predicates read it: an attribute without a value, or whose value is not preserved, is nil.
private struct HistoryTombstone: PredicateSubject {
    let values: [AnyHashable: Any]

    func predicateValue(forKey key: String) throws -> Any? { values[key] }
}

/// The change of one property of an object by a transaction: an addition to Core Data's API. See
/// ``NSPersistentHistoryChange/propertyChanges()``.
public enum HistoryPropertyChange {
    /// The values of an attribute, or the IDs of a to-one relationship, before and after; nil for none.
    case value(old: Any?, new: Any?)
    /// The removed and added members of a many-to-many relationship, sorted.
    case members(removed: [NSManagedObjectID], added: [NSManagedObjectID])
}
