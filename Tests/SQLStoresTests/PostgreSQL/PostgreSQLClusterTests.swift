#if PostgreSQL
    import Foundation
    import Synchronization
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    private let clusterURL = ProcessInfo.processInfo.environment["CORAL_POSTGRESQL_CLUSTER"]

    /// A cluster whose primary `Scripts/test-cluster` kills at random.
    @Suite(.enabled(if: clusterURL != nil, "Scripts/test-cluster starts a cluster."))
    struct PostgreSQLClusterTests {
        private static let seconds =
            ProcessInfo.processInfo.environment["CORAL_POSTGRESQL_SECONDS"].flatMap(Double.init) ?? 60

        private static func stack() throws -> TestStack {
            try TestStack(
                type: TestStores.postgreSQL, url: URL(string: (clusterURL ?? "") + "&schema=cluster"),
                options: [NSPersistentHistoryTrackingKey: true])
        }

        /// Reads the history by token on a thread, and tries again when no server answers.
        private final class Follower: Sendable {
            private struct State {
                var last: Int64 = 0
                var gaps: [String] = []
                var insertions: [String] = []
                var errorCount = 0
            }

            private let coordinator: NSPersistentStoreCoordinator
            private let state = Mutex(State())
            private let end = Mutex<Int64?>(nil)
            private let ended = DispatchSemaphore(value: 0)

            init(_ stack: TestStack) {
                coordinator = stack.coordinator
                Thread.detachNewThread { [self] in
                    var token: NSPersistentHistoryToken?
                    while end.withLock({ $0 }).map({ state.withLock(\.last) < $0 }) ?? true {
                        do { try read(after: &token) } catch { state.withLock { $0.errorCount += 1 } }
                        usleep(20_000)
                    }
                    ended.signal()
                }
            }

            private func read(after token: inout NSPersistentHistoryToken?) throws {
                let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
                context.persistentStoreCoordinator = coordinator
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                let result = try context.execute(request) as? NSPersistentHistoryResult
                for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                    token = transaction.token
                    let inserted = (transaction.changes ?? []).filter { $0.changeType == .insert }
                    state.withLock { state in
                        if transaction.transactionNumber != state.last + 1 {
                            state.gaps.append("\(transaction.transactionNumber) after \(state.last)")
                        }
                        state.last = transaction.transactionNumber
                        state.insertions += inserted.map { $0.changedObjectID.uriRepresentation().absoluteString }
                    }
                }
            }

            /// What was read when the follower has the last transaction.
            func finish(at last: Int64) -> (gaps: [String], insertions: [String], errorCount: Int) {
                end.withLock { $0 = last }
                ended.wait()
                return state.withLock { ($0.gaps, $0.insertions, $0.errorCount) }
            }
        }

        @Test func `no acknowledged save is lost or made twice, and the history is followed without a gap`() throws {
            let stack = try Self.stack()
            let writers = SavingWriters(stack, count: 8)
            let follower = Follower(try Self.stack())
            Thread.sleep(forTimeInterval: Self.seconds)
            #expect(writers.waitForSaves(50))
            let acknowledged = try writers.check(in: stack)
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            let followed = follower.finish(at: try #require(try store.historyExtent()).last)
            let reading = stack.context()
            let notes = try withExtendedLifetime(reading) {
                try reading.all("Note").map { $0.objectID.uriRepresentation().absoluteString }
            }
            #expect(followed.gaps.isEmpty)
            #expect(followed.insertions.count == notes.count)
            #expect(Set(followed.insertions) == Set(notes))
            #expect(acknowledged > 100)
            print("the follower read \(notes.count) transactions, and got \(followed.errorCount) errors")
        }
    }
#endif
