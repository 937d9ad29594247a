#if PostgreSQL
    import Foundation
    import Synchronization
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// Inserts objects on several threads until it is stopped, and records which saves were acknowledged.
    final class SavingWriters: Sendable {
        private let writerCount: Int
        private struct State {
            var isStopped = false
            /// The numbers of the notes whose saves were acknowledged.
            var acknowledged: [Int] = []
            /// The numbers of the notes whose saves threw an error, by the error's code.
            var refused: [Int: CocoaError.Code] = [:]
        }

        private let coordinator: NSPersistentStoreCoordinator
        private let state = Mutex(State())
        private let ended = DispatchSemaphore(value: 0)

        init(_ stack: TestStack, count: Int = 3) {
            coordinator = stack.coordinator
            writerCount = count
            for writer in 0..<count { Thread.detachNewThread { [self] in write(writer) } }
        }

        /// Each save inserts a note with a new number.
        private func write(_ writer: Int) {
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            var number = writer
            while !state.withLock(\.isStopped) {
                number += writerCount
                do {
                    _ = context.insert("Note", ["title": "note", "count": number])
                    try context.save()
                    state.withLock { $0.acknowledged.append(number) }
                } catch {
                    state.withLock { $0.refused[number] = (error as? CocoaError)?.code }
                    context.reset()
                    usleep(20_000)
                }
            }
            ended.signal()
        }

        var count: Int { state.withLock { $0.acknowledged.count } }

        /// Waits until a number of further saves were acknowledged.
        func waitForSaves(_ number: Int) -> Bool {
            let wanted = count + number
            for _ in 0..<6000 where count < wanted { usleep(10_000) }
            return count >= wanted
        }

        /// The numbers of the acknowledged saves, and of those that threw errors.
        func stop() -> (acknowledged: [Int], refused: [Int: CocoaError.Code]) {
            state.withLock { $0.isStopped = true }
            for _ in 0..<writerCount { ended.wait() }
            return state.withLock { ($0.acknowledged, $0.refused) }
        }

        /// Stops the writers, and expects that each acknowledged save is in the store and in the history once.
        ///
        /// - Returns: The number of acknowledged saves.
        @discardableResult
        func check(in stack: TestStack) throws -> Int {
            let (acknowledged, refused) = stop()
            let reading = stack.context()
            let stored = try reading.all("Note").compactMap { $0.value(forKey: "count") as? Int }
            #expect(Set(acknowledged).subtracting(stored).isEmpty, "an acknowledged save was lost")
            #expect(Set(stored).count == stored.count, "a save was made twice")
            // A save that threw an error was not made: each outcome could be determined.
            #expect(Set(stored).isDisjoint(with: refused.keys), "a refused save was made: \(Set(refused.values))")
            #expect(stored.count == acknowledged.count)
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            #expect(try store.transactionCount() == stored.count, "the history has every save once")
            print("\(acknowledged.count) acknowledged saves, \(refused.count) errors, \(stored.count) stored")
            return acknowledged.count
        }
    }

    extension PostgreSQLStore {
        /// The number of transactions in the history, whose numbers may have gaps.
        func transactionCount() throws -> Int {
            var count = 0
            try readHistory(HistoryQuery(start: .beginning, includesChanges: false)) { _, _ in
                count += 1
                return true
            }
            return count
        }
    }
#endif
