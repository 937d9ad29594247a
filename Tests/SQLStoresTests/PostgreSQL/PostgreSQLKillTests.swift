#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores
    @testable import StoreTools

    /// Processes that are killed before a statement of a save.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLKillTests {
        private static let urlKey = "CORAL_POSTGRESQL_KILLED_STORE"
        private static let statementKey = "CORAL_POSTGRESQL_KILLED_STATEMENT"

        private static func stack(_ url: URL) throws -> TestStack {
            try TestStack(type: TestStores.postgreSQL, url: url, options: [NSPersistentHistoryTrackingKey: true])
        }

        /// Gives all notes another title, inserts one with it, and connects each with the new one.
        ///
        /// - Parameter willExecute: Called before each statement with the number of those before it.
        private static func save(in stack: TestStack, willExecute: @escaping (Int) -> Void) throws {
            let context = stack.context()
            let notes = try context.all("Note")
            let title = "generation \(notes.count)"
            let new = context.insert("Note", ["title": title])
            for note in notes {
                note.setValue(title, forKey: "title")
                note.mutableSetValue(forKey: "related").add(new)
            }
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            nonisolated(unsafe) var count = 0
            try store.content().pool.trace { _ in
                willExecute(count)
                count += 1
            }
            try context.save()
            try store.content().pool.trace(nil)
        }

        @Test func `a save of a process that is killed before any statement is complete or has no effect`() async throws
        {
            let url = try #require(TestStores.url(TestStores.postgreSQL))
            let stack = try Self.stack(url)
            let context = stack.context()
            for _ in 0..<2 { _ = context.insert("Note", ["title": "first"]) }
            try context.save()
            var count = 0
            try Self.save(in: stack) { count = $0 + 1 }
            #expect(count >= 3)
            setenv(Self.urlKey, url.absoluteString, 1)
            defer {
                unsetenv(Self.urlKey)
                unsetenv(Self.statementKey)
            }
            for number in 0..<count {
                setenv(Self.statementKey, "\(number)", 1)
                await #expect(processExitsWith: .signal(SIGKILL)) { try PostgreSQLKillTests.saveUntilKilled() }
                // The commit is the last statement.
                try requireWhole(stack, noteCount: 3)
            }
            // The locks of the killed processes were released.
            try Self.save(in: stack) { _ in }
            try requireWhole(stack, noteCount: 4)
        }

        private func requireWhole(_ stack: TestStack, noteCount: Int) throws {
            let reading = stack.context()
            let notes = try reading.all("Note")
            #expect(notes.count == noteCount)
            #expect(Set(notes.compactMap { $0.value(forKey: "title") as? String }).count == 1)
            let newest = notes.max { $0.key.number < $1.key.number }
            #expect((newest?.value(forKey: "relatedBy") as? Set<NSManagedObject>)?.count == noteCount - 1)
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            #expect(try store.transactionCount() == noteCount - 1)
            let found = try RowCheck(url: try #require(store.url), model: stack.coordinator.managedObjectModel)
                .problems(in: stack.context()) { _, _ in }
            #expect(found.isEmpty)
        }

        /// The work of the process.
        private static func saveUntilKilled() throws {
            let environment = ProcessInfo.processInfo.environment
            let url = try #require(environment[urlKey].flatMap(URL.init(string:)))
            let last = try #require(environment[statementKey].flatMap { Int($0) })
            let stack = try stack(url)
            try save(in: stack) { if $0 == last { kill(getpid(), SIGKILL) } }
        }
    }
#endif
