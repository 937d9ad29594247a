import Foundation

/// The transactions of a coordinator's stores as they are committed, by this process or any other: an addition to Core
/// Data's API.
///
/// Every transaction is returned once. The transactions of one store are returned in the order of their commits, each
/// after its changes have become readable. Save the `token` of the last transaction that you have processed, and pass
/// it the next time. The sequence ends only when the coordinator's last store is removed or the task is cancelled.
///
/// Transactions are read in batches of some thousand changes, and no statement or transaction stays open between two
/// batches, so a slow reader does not block the store. A fetch of a batch costs some ten statements. Iteration throws
/// code 134301 if history that has not been read yet has been deleted, and code 134091 if no store has a history.
public struct HistoryChanges: AsyncSequence, Sendable {
    public typealias Element = NSPersistentHistoryTransaction

    private let coordinator: NSPersistentStoreCoordinator
    private let token: NSPersistentHistoryToken?
    private let excludedAuthor: String?

    init(_ coordinator: NSPersistentStoreCoordinator, after token: NSPersistentHistoryToken?, excluding author: String?)
    {
        self.coordinator = coordinator
        self.token = token
        excludedAuthor = author
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(coordinator, HistoryCursor(coordinator, after: token, excluding: excludedAuthor))
    }

    /// Reads batches, and waits for a commit when there are no more transactions.
    public struct Iterator: AsyncIteratorProtocol {
        private let coordinator: NSPersistentStoreCoordinator
        private var cursor: HistoryCursor
        private var batch: ArraySlice<NSPersistentHistoryTransaction> = []
        private let signals: CommitSignals
        private var signal: AsyncStream<Void>.Iterator

        init(_ coordinator: NSPersistentStoreCoordinator, _ cursor: HistoryCursor) {
            self.coordinator = coordinator
            self.cursor = cursor
            signals = CommitSignals(coordinator)
            signal = signals.stream.makeAsyncIterator()
        }

        /// The next transaction; nil after the task has been cancelled or the last store has been removed.
        public mutating func next() async throws -> NSPersistentHistoryTransaction? {
            while batch.isEmpty {
                if Task.isCancelled || coordinator.entries.isEmpty { return nil }
                // Observe before reading: every later commit sends a signal.
                signals.observeStores()
                batch = try await nextBatch()[...]
                if batch.isEmpty, await signal.next() == nil { return nil }
            }
            return batch.popFirst()
        }

        /// Reads on a thread that may block while the file is locked.
        private mutating func nextBatch() async throws -> [NSPersistentHistoryTransaction] {
            let start = cursor
            let (moved, batch) = try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(
                        with: Result {
                            var cursor = start
                            let batch = try cursor.nextBatch()
                            return (cursor, batch)
                        })
                }
            }
            cursor = moved
            return batch
        }
    }
}

extension NSPersistentContainer {
    /// The transactions of the container's stores after a token, and those to come. See ``HistoryChanges``.
    ///
    /// - Parameters:
    /// The point to begin at; nil is the beginning of the history.
    /// The author whose transactions are excluded; nil excludes none.
    public final func historyChanges(
        after token: NSPersistentHistoryToken? = nil, excluding author: String? = nil
    ) -> HistoryChanges {
        HistoryChanges(persistentStoreCoordinator, after: token, excluding: author)
    }
}
