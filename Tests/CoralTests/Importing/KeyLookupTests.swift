#if !canImport(Darwin)

    import Coral
    import Synchronization
    import Testing
    @testable import ManagedObjects
    @testable import SQLiteConnections

    /// Lookups by a key without an index: the table is read a few times, not once for each batch.
    @Suite(.enabled(if: Engine.hasRows)) struct KeyLookupTests {
        private final class Log: Sendable {
            let statements = Mutex<[String]>([])
            /// The number of statements since the last call that search for values of a column.
            func takeLookups(_ column: String) -> Int {
                statements.withLock { all in
                    defer { all = [] }
                    return all.count { $0.hasPrefix("SELECT") && $0.contains("\(column) IN (") }
                }
            }
        }

        private let log = Log()

        private func makeModel() -> NSManagedObjectModel {
            let remark = WebModel.entity(
                "Remark", [("text", .stringAttributeType), ("stars", .integer64AttributeType)])
            remark.userInfo = ["coral.identity": "text"]
            let reply = WebModel.entity("Reply", [("text", .stringAttributeType)])
            reply.userInfo = ["coral.identity": "text"]
            WebModel.relate(reply, "remark", .toOne, remark, "replies", .toMany(ordered: false))
            let model = NSManagedObjectModel()
            model.entities = [remark, reply]
            return model
        }

        private func makeContext(at url: URL? = nil) throws -> NSManagedObjectContext {
            try StoreConnection.$statementObserver.withValue({ [log] statement in
                log.statements.withLock { $0.append(statement) }
            }) {
                try CoralTests.makeContext(makeModel(), at: url)
            }
        }

        private func document(_ count: Int, stars: Int) -> Data {
            let remarks = (0..<count).map { #"{"text": "remark \#($0)", "stars": \#($0 % 7 + stars)}"# }
            let replies = (0..<count).map { #"{"text": "reply \#($0)", "remark": "remark \#(count - 1 - $0)"}"# }
            return Data(
                #"{"Remark": [\#(remarks.joined(separator: ","))], "Reply": [\#(replies.joined(separator: ","))]}"#.utf8
            )
        }

        private func stars(_ context: NSManagedObjectContext) throws -> [Int] {
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Remark")
                request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
                return try context.fetch(request).compactMap { ($0.value(forKey: "stars") as? NSNumber)?.intValue }
            }
        }

        @Test func `rows are looked up by keys that are loaded once`() throws {
            let context = try makeContext()
            var importer = BatchImporter(into: try #require(context.persistentStoreCoordinator))
            importer.options.layout = .plain
            importer.rowImporting = .always
            let first = try importer.importDocument(.data(document(4000, stars: 0)))
            #expect((first.insertCount, first.savedBatchCount) == (8000, 1))
            _ = log.takeLookups("ZTEXT")
            let again = try importer.importDocument(.data(document(4000, stars: 0)))
            #expect((again.insertCount, again.updateCount, again.linkCount, again.savedBatchCount) == (0, 0, 0, 1))
            #expect(log.takeLookups("ZTEXT") <= 8)
            let changed = try importer.importDocument(.data(document(4100, stars: 1)))
            #expect((changed.insertCount, changed.updateCount) == (200, 4000))
            #expect(try stars(context).reduce(0, +) == (0..<4100).reduce(0) { $0 + $1 % 7 + 1 })
            let replies = try context.performAndWait {
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Reply"))
            }
            #expect(replies == 4100)
        }

        @Test func `a key of several rows falls back to objects`() throws {
            let context = try makeContext()
            try context.performAndWait {
                for number in 0..<3000 { context.insert("Remark", ["text": "remark \(number)", "stars": 1]) }
                context.insert("Remark", ["text": "remark 2999", "stars": 1])
                try context.save()
                context.reset()
            }
            var importer = BatchImporter(into: try #require(context.persistentStoreCoordinator))
            importer.options.layout = .plain
            importer.rowImporting = .always
            let result = try importer.importDocument(.data(document(3000, stars: 5)))
            #expect(result.savedBatchCount > 1, "Objects did it.")
            #expect(result.conflicts.contains { $0.message.contains("2 stored objects of Remark have this key") })
        }

        @Test func `a lookup of objects uses as many keys as a statement permits`() throws {
            let context = try makeContext()
            try context.performAndWait {
                var importer = GraphImporter(into: context)
                importer.worksInPlace = true
                try importer.importObjects(from: document(35_000, stars: 0))
                try context.save()
                context.reset()
                _ = log.takeLookups("ZTEXT")
                let plan = try importer.plan(document(35_000, stars: 0))
                #expect(plan.isEmpty && plan.errors.isEmpty)
                #expect(log.takeLookups("ZTEXT") == 4)
            }
        }
    }

#endif
