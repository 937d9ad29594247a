import CoreData
import GraphDocuments

extension GraphComparison {
    /// The changes of a coordinator's stores since a history token, computed from the history. The delta can be applied
    /// and joined to the next one.
    ///
    /// If the stores keep old values (`HistoryOldValuesOption`, off Apple's platforms), the delta contains them and can be
    /// reverted (`inverse`). It does not contain them if one of the transactions was written without the option, or if an
    /// update or a deletion concerns a property without old values: the order of members, a to-many relationship without an
    /// inverse, a composite attribute, or an attribute that allows external storage.
    ///
    /// Records of inserted objects are complete. Without old values, those of updated objects contain the properties that
    /// were set, possibly to their old values, and those of deleted objects contain the values that the history preserves
    /// (`preservesValueInHistoryOnDeletion`). New values are the current ones. Objects are named by their ids, with
    /// `naming` `.keys` by natural keys; a deleted object has one if its tombstone or its old values contain all
    /// attributes of the key. An object whose key has changed is found by its former key, which is known if the delta
    /// contains old values; otherwise the object is one of the delta's `updatesWithUnknownKey`, and the delta cannot be
    /// applied. A change of a many-to-many relationship that the history records only on the other side is
    /// part of the delta on that side.
    ///
    /// Throws code 134301 if the token has expired, code 134091 if no store has a history, and errors of
    /// `delta(from:to:progress:)`. Cost: the history since the token is read once, and the changed objects.
    ///
    /// - Returns: The delta, and the token to start from the next time: the given one if nothing has changed.
    public func delta(
        since token: NSPersistentHistoryToken?, to coordinator: NSPersistentStoreCoordinator, progress: Progress? = nil
    ) throws -> (delta: GraphDelta, token: NSPersistentHistoryToken?) {
        let start = token.map { HistoryPages.Start.token($0) } ?? .beginning
        let (delta, reached) = try delta(from: HistoryPages(coordinator, from: start), coordinator, progress)
        return (delta, reached ?? token)
    }

    /// The changes of a coordinator's stores since a date; see `delta(since:to:progress:)` with a token.
    public func delta(
        since date: Date, to coordinator: NSPersistentStoreCoordinator, progress: Progress? = nil
    ) throws -> (delta: GraphDelta, token: NSPersistentHistoryToken?) {
        try delta(from: HistoryPages(coordinator, from: .date(date)), coordinator, progress)
    }

    private func delta(
        from pages: HistoryPages, _ coordinator: NSPersistentStoreCoordinator, _ progress: Progress?
    ) throws -> (delta: GraphDelta, token: NSPersistentHistoryToken?) {
        var fold = HistoryFold()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        let delta = try context.performAndWait {
            try Self.pin(context, &fold, pages, progress)
            return try HistoryDelta(self, fold, context, coordinator).delta(progress: progress)
        }
        return (delta, fold.token)
    }

    /// Pins a context to the state after the last transaction of the history. If other connections commit in the meantime,
    /// their transactions are read too, and the context is pinned again.
    ///
    /// If other connections keep committing, the attempts end, and the pinned state may be later than the history. Changes
    /// after the history are then also part of the next delta, and this delta has no old values.
    private static func pin(
        _ context: NSManagedObjectContext, _ fold: inout HistoryFold, _ pages: HistoryPages, _ progress: Progress?
    ) throws {
        var rest = pages
        for _ in 0..<8 {
            try? context.setQueryGenerationFrom(.current)
            if let token = fold.token { rest.start = .token(token) }
            let reached = fold.token
            try rest.forEach(progress: progress) { try fold.add($0) }
            if fold.token == reached { return }
        }
        fold.invalidateReversal()
    }
}

extension NSPersistentStoreCoordinator {
    /// The changes of the coordinator's stores since a history token; see `GraphComparison` for options, and for the
    /// token to start from the next time.
    public func changes(since token: NSPersistentHistoryToken) throws -> GraphDelta {
        try GraphComparison(managedObjectModel).delta(since: token, to: self).delta
    }

    /// The changes of the coordinator's stores since a date, from their history.
    public func changes(since date: Date) throws -> GraphDelta {
        try GraphComparison(managedObjectModel).delta(since: date, to: self).delta
    }
}
