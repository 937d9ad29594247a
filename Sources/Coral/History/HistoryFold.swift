import CoreData

/// What became of each object in a part of a history, as one change: inserted and updated is inserted, inserted and deleted
/// is nothing.
struct HistoryFold {
    enum Fate {
        case inserted
        /// The names of the updated properties; nil where they are not known.
        case updated(Set<String>?)
        /// What the history keeps of the object.
        case deleted([String: Any])
    }

    private(set) var fates: [NSManagedObjectID: Fate] = [:]
    /// The point that the history was read to; nil where nothing was read.
    private(set) var token: NSPersistentHistoryToken?

    mutating func add(_ transaction: NSPersistentHistoryTransaction) {
        token = transaction.token
        for change in transaction.changes ?? [] {
            let id = change.changedObjectID
            switch (fates[id], change.changeType) {
            // Under the key of an object that was there: of the one that it takes the place of nothing is known.
            case (.deleted?, .insert): fates[id] = .updated(nil)
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

    private static func names(of change: NSPersistentHistoryChange) -> Set<String>? {
        change.updatedProperties.map { Set($0.map(\.name)) }
    }

    private static func tombstone(of change: NSPersistentHistoryChange) -> [String: Any] {
        var values: [String: Any] = [:]
        for (key, value) in change.tombstone ?? [:] { values[(key.base as? String) ?? "\(key)"] = value }
        return values
    }
}
