#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Synchronization
    import Testing

    import class ManagedObjects.NSPredicate

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// Several processes change the same objects.
    /// `Scripts/test-postgresql --processes 60` lets them do so for a minute.
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
                    NotesModel.attribute("digest", .integer64AttributeType),
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
            let counters = try reading.all("Counter")
            let reports = try reading.all("Report")
            func sum(_ key: String, of objects: [NSManagedObject]) -> Int {
                objects.reduce(0) { $0 + ($1.value(forKey: key) as? Int ?? 0) }
            }
            let increments = sum("increments", of: reports)
            #expect(reports.count == Self.processCount && increments > 0)
            #expect(sum("value", of: counters) == increments, "a save without a conflict lost an update")
            // Every process has read the changes of every counter by all processes, each once.
            let digest = counters.reduce(0) { $0 + Int($1.key.number) * ($1.value(forKey: "value") as? Int ?? 0) }
            for report in reports {
                #expect(report.value(forKey: "seen") as? Int == increments)
                #expect(report.value(forKey: "digest") as? Int == digest)
            }
            let rows = try #require(read.coordinator.persistentStores.first as? PostgreSQLStore)
            try rows.content().pool.withConnection { connection in
                let numbers = try connection.execute(
                    """
                    SELECT count(*) = max(Z_PK), (SELECT count(*) = max(Z_PK) FROM ACHANGE), \
                    (SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 1 AND ZENTITY = 1), \
                    (SELECT sum(Z_OPT - 1)::bigint FROM ZCOUNTER) FROM ATRANSACTION
                    """)
                if !TestStores.numbersConcurrently {
                    #expect(numbers.integer(0, 0) == 1 && numbers.integer(0, 1) == 1, "the history has a gap")
                }
                #expect(Int(numbers.integer(0, 2)) == increments)
                #expect(Int(numbers.integer(0, 3)) == increments, "each change has raised the version of its row")
            }
            print(
                """
                \(Self.processCount) processes, \(Self.seconds) s: \(sum("saves", of: reports)) saves of \(increments) changes, \
                \(sum("conflicts", of: reports)) conflicts
                """)
        }

        /// The work of one of the processes: increments random counters, and follows the history of all at the same time.
        private static func writeAndFollow() throws {
            let url = try #require(ProcessInfo.processInfo.environment[urlKey].flatMap(URL.init(string:)))
            let follower = Follower(try stack(url))
            let context = try stack(url).context()
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
            let report = context.insert(
                "Report", ["author": author, "increments": increments, "saves": saves, "conflicts": conflicts])
            try context.save()
            let (seen, digest) = try follower.result()
            report.setValue(seen, forKey: "seen")
            report.setValue(digest, forKey: "digest")
            try context.save()
        }

        /// Reads the history by token on a thread, until all processes have reported.
        private final class Follower: Sendable {
            private let coordinator: NSPersistentStoreCoordinator
            private let found = Mutex<Result<(seen: Int, digest: Int), any Error>?>(nil)
            private let ended = DispatchSemaphore(value: 0)

            init(_ stack: TestStack) {
                coordinator = stack.coordinator
                Thread.detachNewThread { [self] in
                    let result = Result { try follow() }
                    found.withLock { $0 = result }
                    ended.signal()
                }
            }

            /// The number of changes of counters, and the sum of the changed counters' keys.
            func result() throws -> (seen: Int, digest: Int) {
                ended.wait()
                return try #require(found.withLock { $0 }).get()
            }

            private func follow() throws -> (seen: Int, digest: Int) {
                let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
                context.persistentStoreCoordinator = coordinator
                var token: NSPersistentHistoryToken?
                var last: Int64 = 0
                var (seen, digest, reports) = (0, 0, 0)
                while reports < processCount {
                    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                    let result = try context.execute(request) as? NSPersistentHistoryResult
                    for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                        let number = transaction.transactionNumber
                        guard number == last + 1 || TestStores.numbersConcurrently && number > last else {
                            throw Failure.gap(after: last, at: number)
                        }
                        last = number
                        token = transaction.token
                        for change in transaction.changes ?? [] {
                            switch (change.changedObjectID.entity.name, change.changeType) {
                            case ("Counter", .update):
                                seen += 1
                                digest += Int(change.changedObjectID.key.number)
                            case ("Report", .insert): reports += 1
                            default: break
                            }
                        }
                    }
                    if reports < processCount { usleep(20_000) }
                }
                return (seen, digest)
            }
        }

        private enum Failure: Error {
            case gap(after: Int64, at: Int64)
        }
    }
#endif
