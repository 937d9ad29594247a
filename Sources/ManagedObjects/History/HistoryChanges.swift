import Foundation

/// The transactions of a coordinator's stores as they are committed, by this process or any other: an addition to Core
/// Data's API.
///
/// Every transaction comes once, those of one store in the order of their commits, and each after its changes can be read.
/// Save the `token` of the last one that you have dealt with, and begin after it the next time. The sequence does not end
/// by itself, but where the coordinator's last store is removed; cancel the task to end it.
///
/// Transactions are read some thousand changes at a time, and nothing is held open between two batches, so a slow reader
/// costs the store nothing. A fetch of a batch costs some ten statements. Iteration throws code 134301 where history has
/// been deleted that was not read yet, and code 134091 where no store has a history.
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

    /// Reads batch after batch, and waits for commits in between.
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

        /// The next transaction; nil where the task is cancelled or the last store has been removed.
        public mutating func next() async throws -> NSPersistentHistoryTransaction? {
            while batch.isEmpty {
                if Task.isCancelled || coordinator.entries.isEmpty { return nil }
                // Before reading: what is committed from now on gives a signal.
                signals.observeStores()
                batch = try await nextBatch()[...]
                if batch.isEmpty, await signal.next() == nil { return nil }
            }
            return batch.popFirst()
        }

        /// Reads on a thread that may wait for the file.
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
    ///   - token: Where to begin; nil is the beginning of the history.
    ///   - author: The author whose transactions are left out; nil for none.
    public final func historyChanges(
        after token: NSPersistentHistoryToken? = nil, excluding author: String? = nil
    ) -> HistoryChanges {
        HistoryChanges(persistentStoreCoordinator, after: token, excluding: author)
    }
}
