#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Testing

    import class ManagedObjects.NSPredicate

    @testable import ManagedObjects

    /// Several processes change the same objects.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLProcessTests {
        private static let urlKey = "CORAL_POSTGRESQL_STORE"
        /// The duration of writing: three seconds, unless the environment sets another.
        private static let secondsKey = "CORAL_POSTGRESQL_SECONDS"
        private static let processCount = 8
        private static let objectCount = 1000

        private static var seconds: Double {
            ProcessInfo.processInfo.environment[secondsKey].flatMap(Double.init) ?? 3
        }

        private static func model() -> NSManagedObjectModel {
            let counter = NotesModel.entity(
                "Counter",
                [
                    NotesModel.attribute("number", .integer64AttributeType),
                    NotesModel.attribute("value", .integer64AttributeType),
                ])
            let report = NotesModel.entity(
                "Report",
                [
                    NotesModel.attribute("author", .stringAttributeType),
                    NotesModel.attribute("increments", .integer64AttributeType),
                    NotesModel.attribute("saves", .integer64AttributeType),
                    NotesModel.attribute("conflicts", .integer64AttributeType),
                    NotesModel.attribute("seen", .integer64AttributeType),
                ])
            let model = NSManagedObjectModel()
            model.entities = [counter, report]
            return model
        }

        private static func stack(_ url: URL) throws -> TestStack {
            try TestStack(
                model: model(), type: TestStores.postgreSQL, url: url, options: [NSPersistentHistoryTrackingKey: true])
        }

        @Test func `eight processes change the same thousand objects, and no change is lost`() async throws {
            let url = try #require(TestStores.url(TestStores.postgreSQL))
            let context = try Self.stack(url).context()
            for number in 0..<Self.objectCount { _ = context.insert("Counter", ["number": number, "value": 0]) }
            try context.save()
            setenv(Self.urlKey, url.absoluteString, 1)
            defer { unsetenv(Self.urlKey) }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.processCount {
                    group.addTask {
                        await #expect(processExitsWith: .success) { try PostgreSQLProcessTests.writeAndFollow() }
                    }
                }
            }
            let read = try Self.stack(url)
            let reading = read.context()
            let values = try reading.all("Counter").compactMap { $0.value(forKey: "value") as? Int }
            let reports = try reading.all("Report")
            func sum(_ key: String) -> Int { reports.reduce(0) { $0 + ($1.value(forKey: key) as? Int ?? 0) } }
            #expect(reports.count == Self.processCount)
            #expect(values.reduce(0, +) == sum("increments"), "no update was lost")
            #expect(sum("increments") > 0)
            // Every process has read the changes of all of them, each once.
            for report in reports { #expect(report.value(forKey: "seen") as? Int == sum("increments")) }
            let rows = try #require(read.coordinator.persistentStores.first as? PostgreSQLStore)
            try rows.content().pool.withConnection { connection in
                let numbers = try connection.execute(
                    """
                    SELECT count(*) = max(Z_PK), (SELECT count(*) = max(Z_PK) FROM ACHANGE), \
                    (SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 1 AND ZENTITY = 1) FROM ATRANSACTION
                    """)
                #expect(numbers.integer(0, 0) == 1 && numbers.integer(0, 1) == 1)
                #expect(Int(numbers.integer(0, 2)) == sum("increments"))
            }
            print("\(sum("saves")) saves, \(sum("increments")) changes, \(sum("conflicts")) conflicts")
        }

        /// The work of one of the processes: increments random counters, and follows the history of all.
        private static func writeAndFollow() throws {
            let url = try #require(ProcessInfo.processInfo.environment[urlKey].flatMap(URL.init(string:)))
            let (writer, follower) = (try stack(url), try stack(url))
            let context = writer.context()
            let author = "\(ProcessInfo.processInfo.processIdentifier)"
            context.transactionAuthor = author
            var (increments, saves, conflicts) = (0, 0, 0)
            let end = Date(timeIntervalSinceNow: seconds)
            while Date() < end {
                let first = Int.random(in: 0..<objectCount)
                let count = Int.random(in: 1...10)
                let request = NSFetchRequest<NSManagedObject>(entityName: "Counter")
                request.predicate = NSPredicate(format: "number >= %d AND number < %d", first, first + count)
                let counters = try context.fetch(request)
                for counter in counters {
                    counter.setValue((counter.value(forKey: "value") as? Int ?? 0) + 1, forKey: "value")
                }
                do {
                    try context.save()
                    (saves, increments) = (saves + 1, increments + counters.count)
                } catch let error as CocoaError where error.code == .managedObjectMerge {
                    conflicts += 1
                    context.rollback()
                    context.refreshAllObjects()
                }
            }
            _ = context.insert(
                "Report",
                ["author": author, "increments": increments, "saves": saves, "conflicts": conflicts, "seen": -1])
            try context.save()
            let seen = try follow(follower, from: url)
            let own = try context.all("Report").filter { $0.value(forKey: "author") as? String == author }
            own.first?.setValue(seen, forKey: "seen")
            try context.save()
        }

        /// Reads the history by token until all processes have reported; returns the number of changed counters.
        private static func follow(_ stack: TestStack, from url: URL) throws -> Int {
            let context = stack.context()
            var token: NSPersistentHistoryToken?
            var (last, seen, reports): (Int64, Int, Int) = (0, 0, 0)
            while reports < processCount {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                let result = try context.execute(request) as? NSPersistentHistoryResult
                for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                    guard transaction.transactionNumber == last + 1 else {
                        throw Failure.gap(after: last, at: transaction.transactionNumber)
                    }
                    last += 1
                    token = transaction.token
                    for change in transaction.changes ?? [] {
                        let name = change.changedObjectID.entity.name
                        if name == "Counter", change.changeType == .update { seen += 1 }
                        if name == "Report", change.changeType == .insert { reports += 1 }
                    }
                }
                if reports < processCount { usleep(20_000) }
            }
            return seen
        }

        private enum Failure: Error {
            case gap(after: Int64, at: Int64)
        }
    }
#endif
