import Foundation
import PredicateLanguage

/// What a change has done to an object.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// The object was inserted.
    case insert = 0
    /// The object was updated.
    case update = 1
    /// The object was deleted.
    case delete = 2
}

/// What a transaction has done to one object.
open class NSPersistentHistoryChange: NSObject, NSCopying,
    @unchecked Sendable  // because nothing changes once the transaction has been made
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

    // MARK: - What it tells

    /// Its number in the store: later changes have higher ones.
    open var changeID: Int64 { row.number }

    /// The ID of the object that has changed. It may have been deleted since.
    open var changedObjectID: NSManagedObjectID { origin.objectID(of: row) }

    /// What was done to the object.
    open var changeType: NSPersistentHistoryChangeType { row.type }

    /// What is kept of a deleted object: the attributes with `preservesValueInHistoryOnDeletion`, by their names,
    /// `NSNull` for those without a value. Nil unless the object was deleted and its entity has such attributes. Values
    /// that may be kept in external files are never preserved.
    open var tombstone: [AnyHashable: Any]? {
        guard row.type == .delete, !row.tombstone.isEmpty else { return nil }
        var values: [AnyHashable: Any] = [:]
        for (slot, value) in row.tombstone {
            guard let name = slot.name else { continue }
            var value = value
            if slot.kind == .transformable, case .data(let data) = value, let attribute = slot.attribute {
                value = TransformableCoding.decode(data, attribute: attribute)
            }
            values[name] = value.object(kind: slot.kind) ?? NSNull()
        }
        return values
    }

    /// The transaction. Where nobody keeps it, or the request asked for changes only, it comes without its changes.
    open var transaction: NSPersistentHistoryTransaction? {
        owner ?? NSPersistentHistoryTransaction(transactionRow, changes: nil, origin: origin)
    }

    /// The properties that an update has changed; nil unless it is an update, and where the store keeps them in the form
    /// of another version of the entity. An attribute whose value was set to the one that it had may be among them.
    open var updatedProperties: Set<NSPropertyDescription>? {
        guard row.type == .update, let mask = row.mask else { return nil }
        return origin.masks.properties(in: mask, entityIndex: Int(row.entity))
    }

    /// False where ``updatedProperties`` may name properties that were not changed: stores of macOS 10.13 and iOS 11 have
    /// random bits there. An addition to Core Data's API.
    public final var updatedPropertiesAreReliable: Bool { origin.masks.areReliable }

    // MARK: - Fetching

    /// An entity with the keys by which fetch requests know changes.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.shared.change }

    /// An entity with the keys by which fetch requests know changes.
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

    /// Itself: a change never changes.
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

/// A tombstone as predicates see it: an attribute without a value, or that is not kept, is nil.
private struct HistoryTombstone: PredicateSubject {
    let values: [AnyHashable: Any]

    func predicateValue(forKey key: String) throws -> Any? { values[key] }
}
