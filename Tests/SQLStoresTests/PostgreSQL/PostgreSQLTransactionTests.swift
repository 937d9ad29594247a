#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Synchronization
    import Testing

    import class ManagedObjects.NSFetchRequest
    import class ManagedObjects.NSPredicate

    @testable import EngineTesting

    @testable import ManagedObjects

    /// Contexts that read and save in one write transaction, beside others that do so, and beside plain saves.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLTransactionTests {
        private static let keyCount = 30

        private static func stack(_ url: URL) throws -> TestStack {
            let key = NotesModel.entity("Key", [NotesModel.attribute("number", .integer64AttributeType)])
            let other = NotesModel.entity("Another", [NotesModel.attribute("number", .integer64AttributeType)])
            let model = NSManagedObjectModel()
            model.entities = [key, other]
            return try TestStack(model: model, type: TestStores.postgreSQL, url: url)
        }

        /// Inserts a key unless it exists, in one transaction.
        private static func insert(_ number: Int, _ stack: TestStack) throws -> Bool {
            let store = try #require(stack.coordinator.persistentStores.first)
            let isNew = try stack.context().inWriteTransaction(of: store) { own in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Key")
                request.predicate = NSPredicate(format: "number == %d", number)
                guard try own.count(for: request) == 0 else { return false }
                _ = own.insert("Key", ["number": number])
                try own.save()
                // The transaction sees what it has saved.
                return try own.count(for: request) == 1
            }
            return try #require(isNew as Bool?)
        }

        @Test func `of several writers one inserts each key`() async throws {
            let url = try #require(TestStores.url(TestStores.postgreSQL))
            let first = try Self.stack(url)
            let inserted = try await withThrowingTaskGroup(of: Int.self) { group in
                for writer in 0..<5 {
                    group.addTask {
                        let stack = try Self.stack(url)
                        return try (0..<Self.keyCount).count {
                            try Self.insert(($0 * 7 + writer) % Self.keyCount, stack)
                        }
                    }
                }
                // Saves that lock the tables in another order.
                group.addTask {
                    let context = try Self.stack(url).context()
                    for number in 0..<Self.keyCount {
                        _ = context.insert("Key", ["number": 1000 + number])
                        _ = context.insert("Another", ["number": number])
                        try context.save()
                    }
                    return 0
                }
                return try await group.reduce(0, +)
            }
            let context = first.context()
            let numbers = try context.all("Key").compactMap { $0.value(forKey: "number") as? Int }
            #expect(numbers.sorted() == Array(0..<Self.keyCount) + (0..<Self.keyCount).map { 1000 + $0 })
            #expect(inserted == Self.keyCount)
        }

        @Test func `an error rolls the transaction back, and posts nothing`() throws {
            struct Stop: Error {}
            let url = try #require(TestStores.url(TestStores.postgreSQL))
            let stack = try Self.stack(url)
            let store = try #require(stack.coordinator.persistentStores.first)
            let saves = Mutex(0)
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
            ) { notification in
                let context = notification.object as? NSManagedObjectContext
                if context?.persistentStoreCoordinator === stack.coordinator { saves.withLock { $0 += 1 } }
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            #expect(throws: Stop.self) {
                try stack.context().inWriteTransaction(of: store) { own in
                    _ = own.insert("Key", ["number": 1])
                    try own.save()
                    throw Stop()
                }
            }
            #expect(try stack.context().all("Key").isEmpty)
            #expect(saves.withLock { $0 } == 0)
            #expect(try Self.insert(1, stack))
            #expect(saves.withLock { $0 } == 1)
        }
    }
#endif
