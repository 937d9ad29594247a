import CoreData

/// Combines the changes of each object in a part of a history into one: insert and update are an insert, insert and
/// delete cancel out.
struct HistoryFold {
    enum Fate {
        case inserted
        /// The names of the updated properties; nil if they are unknown.
        case updated(Set<String>?)
        /// The values that the history preserves.
        case deleted([String: Any])
    }

    private(set) var fates: [NSManagedObjectID: Fate] = [:]
    /// The preserved values of deleted objects whose primary keys inserted objects have now.
    private(set) var replacedValues: [NSManagedObjectID: [String: Any]] = [:]
    /// The token of the last transaction; nil if nothing was read.
    private(set) var token: NSPersistentHistoryToken?
    /// The state of the objects before the first of the changes.
    private(set) var reversal = HistoryReversal()

    /// Adds the changes of a transaction that follows those added before.
    mutating func add(_ transaction: NSPersistentHistoryTransaction) throws {
        token = transaction.token
        for change in transaction.changes ?? [] {
            let id = change.changedObjectID
            try reversal.add(change, after: fates[id])
            switch (fates[id], change.changeType) {
            // An object was inserted with the primary key of a deleted one; the deleted object's values are unknown.
            case (.deleted(let values)?, .insert):
                fates[id] = .updated(nil)
                replacedValues[id] = values
            case (_, .insert): fates[id] = .inserted
            case (.inserted?, .update): break
            case (.updated(let names)?, .update):
                fates[id] = .updated(HistoryFold.names(of: change).flatMap { names?.union($0) })
            case (_, .update): fates[id] = .updated(HistoryFold.names(of: change))
            case (.inserted?, .delete): fates[id] = nil
            case (_, .delete): fates[id] = .deleted(HistoryFold.tombstone(of: change))
            @unknown default: break
            }
        }
    }

    /// Adds an object whose properties are unchanged but whose name has changed.
    mutating func addUnchanged(_ id: NSManagedObjectID) {
        if fates[id] == nil { fates[id] = .updated([]) }
    }

    /// Discards the earlier states of the objects, for use if their present state may be later than the last transaction.
    mutating func invalidateReversal() { reversal.invalidate() }

    private static func names(of change: NSPersistentHistoryChange) -> Set<String>? {
        change.updatedProperties.map { Set($0.map(\.name)) }
    }

    private static func tombstone(of change: NSPersistentHistoryChange) -> [String: Any] {
        var values: [String: Any] = [:]
        for (key, value) in change.tombstone ?? [:] { values[(key.base as? String) ?? "\(key)"] = value }
        return values
    }
}
