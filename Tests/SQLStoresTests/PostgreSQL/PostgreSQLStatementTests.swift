#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Testing
    @testable import EngineTesting
    @testable import SQLiteConnections

    import class ManagedObjects.NSPredicate

    @testable import ContextPools
    @testable import ManagedObjects
    @testable import SQLStores

    /// The numbers of statements and round trips, and how statements end.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLStatementTests {
        private let stack: TestStack
        private let pool: PostgreSQLPool

        init() throws {
            stack = try TestStack(
                type: TestStores.postgreSQL, url: TestStores.url(TestStores.postgreSQL),
                options: [NSPersistentHistoryTrackingKey: true])
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            pool = try store.content().pool
        }

        private func roundTrips(_ work: () throws -> Void) rethrows -> Int {
            let before = pool.roundTripCount
            try work()
            return pool.roundTripCount - before
        }

        // MARK: - Numbers

        @Test func `a save of a thousand objects takes at most eight round trips`() throws {
            let context = stack.context()
            for attempt in 0..<3 {
                let notes = (0..<1000).map { context.insert("Note", ["title": "n\($0)", "count": $0]) }
                let inserting = try roundTrips { try context.save() }
                for (index, note) in notes.enumerated() {
                    note.setValue(-index, forKey: "count")
                    if index % 3 == 0 { note.setValue(Double(index), forKey: "rank") }
                    if index % 5 == 0 { note.setValue("x", forKey: "title") }
                }
                let updating = try roundTrips { try context.save() }
                for note in notes { context.delete(note) }
                context.processPendingChanges()
                let deleting = try roundTrips { try context.save() }
                #expect(max(inserting, updating, deleting) <= 8)
                print("attempt \(attempt): \(inserting) to insert, \(updating) to update, \(deleting) to delete")
            }
            #expect(try stack.context().all("Note").isEmpty)
        }

        @Test func `a fetch is one round trip, and a save of one object too`() throws {
            let context = stack.context()
            let note = context.insert("Note", ["title": "n"])
            try context.save()
            var saving: [Int] = []
            for number in 0..<5 {
                note.setValue(number, forKey: "count")
                saving.append(try roundTrips { try context.save() })
                let reading = stack.context()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.predicate = NSPredicate(format: "count == %d", number)
                var count = 0
                #expect(try roundTrips { count = try reading.fetch(request).count } <= 2)
                #expect(count == 1)
            }
            // Saves that are numbered concurrently reserve their numbers before, one of which the first save has used, in growing blocks.
            #expect(saving == (TestStores.numbersConcurrently ? [2, 1, 2, 1, 1] : [1, 1, 1, 1, 1]))
            // A statement that is executed the second time is prepared before.
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            #expect(try roundTrips { _ = try stack.context().fetch(request) } <= 2)
            #expect(try roundTrips { _ = try stack.context().fetch(request) } <= 2)
            #expect(try roundTrips { _ = try stack.context().fetch(request) } == 1)
            let last = stack.context()
            #expect(try last.all("Note").first?.value(forKey: "count") as? Int == 4)
        }

        @Test func `a transaction that begins with its first statements begins with each kind of statement`() throws {
            try pool.withConnection { connection in
                let kinds: [() throws -> PostgreSQLResult] = [
                    { try connection.execute("SELECT current_setting('coral.begun')") },
                    { try connection.execute(script: "SELECT current_setting('coral.begun')") },
                    { try connection.pipelined { try $0.send("SELECT current_setting('coral.begun')") }.last() },
                    { try connection.rows("SELECT current_setting('coral.begun')").current },
                ]
                for (number, kind) in (kinds + kinds).enumerated() {
                    _ = try connection.rows("SELECT 1")
                    let setting = "SELECT set_config('coral.begun', $1, true)"
                    try connection.beginWithNextStatements([("BEGIN", []), (setting, [.text("\(number)")])])
                    #expect(try kind().text(0, 0) == "\(number)")
                    #expect(connection.isInTransaction)
                    try connection.rollBack()
                    #expect(!connection.isInTransaction)
                }
                try connection.beginWithNextStatements([("BEGIN", []), ("SELECT 1 / 0", [])])
                let outcome = try connection.pipelined { try $0.send("SELECT 1") }
                #expect(outcome.results.isEmpty && outcome.failure?.state == "22012")
                try connection.rollBack()
                try connection.beginWithNextStatements([("BEGIN", []), ("SELECT 1 / 0", [])])
                #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT 1") }
                try connection.rollBack()
                // One that was not begun is not ended either.
                let before = connection.roundTripCount
                try connection.beginWithNextStatements([("BEGIN", [])])
                try connection.rollBack()
                #expect(connection.roundTripCount == before && !connection.isInTransaction)
            }
        }

        @Test func `a save of insertions, changes, deletions and relationships takes at most eight round trips`() throws
        {
            let context = stack.context()
            let tags = (0..<10).map { context.insert("Tag", ["name": "t\($0)"]) }
            let note = context.insert("Note", ["title": "n"])
            let others = (0..<50).map { context.insert("Note", ["count": $0]) }
            var items = (0..<800).map { context.insert($0 % 2 == 0 ? "Item" : "SpecialItem", ["index": $0]) }
            for (index, item) in items.enumerated() { item.setValue(Set([tags[index % 10]]), forKey: "tags") }
            note.setValue(NSOrderedSet(array: items), forKey: "items")
            try context.save()
            for attempt in 1...3 {
                for item in items.prefix(200) { context.delete(item) }
                items.removeFirst(200)
                for (index, item) in items.enumerated() where index % 2 == 0 {
                    item.setValue(index + attempt, forKey: "index")
                    item.setValue(Set([tags[(index + attempt) % 10], tags[index % 10]]), forKey: "tags")
                }
                let added = (0..<200).map { context.insert("Item", ["index": $0, "name": "new"]) }
                for item in added { item.setValue(Set(tags.prefix(2)), forKey: "tags") }
                items = added + items.reversed()
                note.setValue(NSOrderedSet(array: items), forKey: "items")
                note.setValue(Set(others.prefix(10 * attempt)), forKey: "related")
                _ = context.insert("Note", ["title": "further \(attempt)"])
                context.processPendingChanges()
                let count = try roundTrips { try context.save() }
                #expect(count <= 8)
                print("attempt \(attempt): \(count) round trips")
            }
            let reading = stack.context()
            let read = try #require(reading.all("Note").first { $0.value(forKey: "title") as? String == "n" })
            let members = (read.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            #expect(members.map(\.objectID) == items.map(\.objectID))
            #expect((read.value(forKey: "related") as? Set<NSManagedObject>)?.count == 30)
            for (one, other) in zip(members, items) {
                func names(_ item: NSManagedObject) -> Set<String> {
                    let tags = item.value(forKey: "tags") as? Set<NSManagedObject> ?? []
                    return Set(tags.compactMap { $0.value(forKey: "name") as? String })
                }
                #expect(names(one) == names(other))
            }
        }

        @Test func `ten thousand faults in a loop take at most twenty statements`() throws {
            let context = stack.context()
            for number in 0..<10_000 {
                let note = context.insert("Note", ["count": number])
                _ = context.insert("Item", ["index": number, "note": note])
            }
            try context.save()
            func loop(_ work: () throws -> Int) throws {
                nonisolated(unsafe) var count = 0
                pool.trace { _ in count += 1 }
                defer { pool.trace(nil) }
                var sum = 0
                let trips = try roundTrips { sum = try work() }
                #expect(sum == 49_995_000)
                #expect(max(count, trips) <= 20, "\(count) statements, \(trips) round trips")
                print("\(count) statements, \(trips) round trips for 10,000 faults")
            }
            try loop {
                let reading = stack.context()
                return try reading.all("Item").reduce(0) { $0 + ($1.value(forKeyPath: "note.count") as? Int ?? 0) }
            }
            let fetching = stack.context()
            let ids = try fetching.all("Note").map(\.objectID)
            try loop {
                let faulting = stack.context()
                return ids.map(faulting.object(with:)).reduce(0) { $0 + ($1.value(forKey: "count") as? Int ?? 0) }
            }
        }

        @Test func `for a predicate that is evaluated in memory, only rows that may satisfy it are read`() throws {
            let context = stack.context()
            for number in 0..<300 { _ = context.insert("Note", ["title": "title \(number)", "count": number % 2]) }
            for number in 0..<5 { _ = context.insert("Note", ["title": "Needle 1%_\\\(number)", "count": 1]) }
            // If differences are ignored, texts with other characters than ASCII may be equal to others; decomposed texts
            // always may.
            for title in ["Zürich", "Zu\u{308}rich"] { _ = context.insert("Note", ["title": title, "count": 1]) }
            _ = context.insert("Note")
            let notes = context.insertedObjects.filter { $0.value(forKey: "count") as? Int == 0 }
                .sorted { ($0.value(forKey: "title") as? String ?? "") < ($1.value(forKey: "title") as? String ?? "") }
            for (note, names) in zip(notes, [["nail", "hammer"], ["Nail"]]) {
                for name in names { context.insert("Item", ["name": name]).setValue(note, forKey: "note") }
            }
            try context.save()
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Note"])
            let expected: [(format: String, read: Int, found: Int)] = [
                ("title CONTAINS[cd] 'nEEdle'", 7, 5), ("title BEGINSWITH 'Needle'", 6, 5),
                ("title ENDSWITH[c] 'E 1%_\\\\3'", 3, 1), ("title LIKE 'N*1%_\\\\\\\\?'", 6, 5),
                ("title LIKE[c] 'title 2??'", 102, 100), ("title ==[d] 'Zürich'", 2, 2),
                ("title BEGINSWITH[c] 'needle' OR title ENDSWITH '299'", 8, 6),
                ("count == 1 AND title CONTAINS 'itle 29'", 7, 6), ("title CONTAINS 'ü'", 2, 2),
                ("title MATCHES 'Need.*'", 6, 5), ("title MATCHES[c] '.*NEEDLE[ ]1.*'", 7, 5),
                ("title MATCHES 'N|Need.*'", 308, 5), ("title MATCHES 'Needles*.*'", 6, 5),
                ("NOT title CONTAINS 'i'", 7, 6), ("title !=[c] 'TITLE 7'", 307, 307),
                ("NOT (title CONTAINS[c] 'TITLE' OR count == 1)", 1, 1),
                ("uppercase:(title) BEGINSWITH 'NEEDLE'", 308, 5), ("title <[l] 'Needle'", 308, 0),
                ("title IN[c] {'TITLE 1', 'TITLE 2', 'none'}", 4, 2), ("title == folder.name", 2, 1),
                ("title ==[c] folder.name", 3, 1), ("title BEGINSWITH title", 307, 307),
                ("ANY items.name CONTAINS[c] 'NAIL'", 2, 2), ("ALL items.name BEGINSWITH[c] 'na'", 307, 307),
                ("NONE items.name CONTAINS[c] 'NAIL'", 306, 306),
            ]
            for (format, read, found) in expected {
                let query = RowQuery(entity: entity, predicate: NSPredicate(format: format))
                let division = try store.content().compiler.divide(query, store: store.number)
                let candidates = try store.rows(matching: division.stored, generation: nil).order.count
                #expect(candidates == read, "\(format)")
                #expect(try store.count(matching: query, generation: nil) == found, "\(format)")
            }
        }

        /// A table that was analysed with a single row has no order.
        @Test(arguments: [3, 200, 20_000])
        func `rows to be written are found by their keys in the order of the keys`(rowCount: Int) throws {
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            let schema = try store.content().schema
            let note = try #require(stack.coordinator.managedObjectModel.entitiesByName["Note"])
            let statements = RowStatements(entity: try schema.requireEntity(note))
            let keys = PostgreSQLValue.array(PostgreSQLArray((1...500).map { $0 * 7 }))
            let written: [(sql: String, parameters: [PostgreSQLValue])] = [
                (statements.update(["ZCOUNT"], checksVersion: true), [keys, keys, keys]),
                (statements.update(["ZCOUNT"], checksVersion: false), [keys, keys, keys]),
                (statements.deletion(checksVersion: true, returning: ["ZTITLE"]), [keys, keys]),
            ]
            try pool.withConnection { connection in
                try connection.execute(
                    "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT) SELECT n, 1, 1 FROM generate_series(1, \(rowCount)) AS n")
                for isAnalyzed in [false, true] {
                    if isAnalyzed { try connection.execute(script: "ANALYZE ZNOTE") }
                    for (sql, parameters) in written {
                        try connection.execute(script: "BEGIN; SET LOCAL enable_seqscan = off")
                        let plan = try connection.execute("EXPLAIN (COSTS OFF) " + sql, parameters)
                        try connection.execute(script: "ROLLBACK")
                        let steps = (0..<plan.rowCount).compactMap { plan.text($0, 0) }.filter { $0.contains("->") }
                        #expect(steps.count == 5, "\(steps)")
                        for (step, expected) in zip(
                            steps,
                            [
                                "Nested Loop", "Subquery Scan on w", "ProjectSet", "Result",
                                "Index Scan using znote_pkey",
                            ])
                        {
                            #expect(step.contains(expected), "\(steps)")
                        }
                    }
                }
            }
        }

        // MARK: - Results in pieces

        @Test func `rows are received while the server computes them`() throws {
            try pool.withConnection { connection in
                let sql = "SELECT n, 1 / (300000 - n) FROM generate_series(1::bigint, 400000) AS n"
                let rows = try connection.rows(sql)
                var count = 1
                let error = #expect(throws: PostgreSQLError.self) {
                    while try rows.advance() {
                        count += 1
                        #expect(rows.current.rowCount == 1)
                    }
                }
                #expect(error?.state == "22012")
                #expect(count > 290_000, "the rows before the error were received")
            }
        }

        @Test func `another statement of the connection first receives the rows of the one before`() throws {
            try pool.withConnection { connection in
                for _ in 0..<3 {
                    let rows = try connection.rows("SELECT n FROM generate_series(1, $1) AS n", [.integer(1000)])
                    var numbers = [rows.current.integer(0, 0)]
                    for _ in 0..<10 {
                        #expect(try rows.advance())
                        numbers.append(rows.current.integer(0, 0))
                    }
                    #expect(try connection.execute("SELECT 7::bigint").integer(0, 0) == 7)
                    while try rows.advance() { numbers.append(rows.current.integer(0, 0)) }
                    #expect(numbers == Array(1...1000))
                }
                // Results are complete again, in every form of execution.
                for attempt in 0..<4 {
                    for _ in 0..<2 {
                        _ = try connection.rows("SELECT 1")
                        let sql = "SELECT n + \(attempt) FROM generate_series(1, 5) AS n"
                        #expect(try connection.execute(sql).rowCount == 5)
                        _ = try connection.rows("SELECT 1")
                        #expect(try connection.pipelined { try $0.send(sql) }.last().rowCount == 5)
                    }
                }
                let ended = try connection.rows("SELECT n FROM generate_series(1, 100000) AS n")
                ended.end()
                #expect(try connection.execute(script: "SELECT 1").rowCount == 1)
                #expect(try connection.rows("SELECT 1 WHERE false").current.rowCount == 0)
            }
        }

        @Test func `a statement that fails in a pipeline ends those after it, and the connection is usable`() throws {
            try pool.withConnection { connection in
                for _ in 0..<3 {
                    let outcome = try connection.pipelined { pipeline in
                        try pipeline.send("SELECT 1::bigint")
                        try pipeline.send("SELECT 1 / $1::bigint", [.integer(0)])
                        try pipeline.send("SELECT 3::bigint")
                    }
                    #expect(outcome.results.map { $0.integer(0, 0) } == [1])
                    #expect(outcome.failure?.state == "22012")
                    #expect(try connection.execute("SELECT 4::bigint").integer(0, 0) == 4)
                }
            }
        }

        @Test func `a script that was sent has ended before the next statement, which throws its error`() throws {
            try pool.withConnection { connection in
                let next: [() throws -> PostgreSQLResult] = [
                    { try connection.execute("SELECT 2::bigint") },
                    { try connection.execute(script: "SELECT 2::bigint") },
                    { try connection.pipelined { try $0.send("SELECT 2::bigint") }.last() },
                    { try connection.rows("SELECT 2::bigint").current },
                ]
                for next in next {
                    try connection.send(script: "CREATE TEMPORARY TABLE sent (n bigint); DROP TABLE sent")
                    #expect(try next().rowCount == 1)
                    try connection.send(script: "SELECT 1; SELECT 1 / 0; SELECT 3")
                    #expect(throws: PostgreSQLError.self) { try next() }
                    #expect(try next().rowCount == 1, "the connection is usable")
                }
                // A pipeline of no statements waits for nothing.
                try connection.send(script: "BEGIN")
                #expect(try connection.pipelined { _ in }.results.isEmpty)
                #expect(connection.isInTransaction)
                try connection.execute(script: "ROLLBACK")
                #expect(!connection.isInTransaction)
            }
        }

        @Test func `large statements are sent while the server sends large results`() throws {
            try pool.withConnection { connection in
                let array = PostgreSQLValue.array(PostgreSQLArray(1...200_000))
                let outcome = try connection.pipelined { pipeline in
                    for _ in 0..<6 { try pipeline.send("SELECT unnest($1)", [array]) }
                }
                #expect(outcome.failure == nil)
                #expect(outcome.results.map { $0.integer(199_999, 0) } == Array(repeating: 200_000, count: 6))
            }
        }

        // MARK: - Interruption

        /// Pairs each item of one note with all of them, which takes minutes.
        private func slowRequest() throws -> NSFetchRequest<NSManagedObject> {
            let context = stack.context()
            let note = context.insert("Note", ["title": "n"])
            try context.save()
            let key = note.key.number
            try pool.withConnection { connection in
                let entity = try connection.execute("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'")
                try connection.execute(
                    """
                    INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZINDEX, ZNOTE) \
                    SELECT 1000 + n, \(entity.integer(0, 0)), 1, 1, \(key) FROM generate_series(1, 30000) AS n
                    """)
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "SUBQUERY(note.items, $n, $n.index != index).@count > 5")
            return request
        }

        /// The number of statements that the server executes for the store.
        private func activeStatementCount() throws -> Int64 {
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            return try PostgreSQLConnection(TestStores.server ?? "").execute(
                "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND application_name = $1",
                [.text(store.content().location.applicationName)]
            ).integer(0, 0)
        }

        @Test func `a fetch that is interrupted ends the server's statement`() throws {
            let request = try slowRequest()
            let pinned = stack.context()
            try pinned.setQueryGenerationFrom(NSQueryGenerationToken.current)
            for context in [stack.context(), pinned] {
                let start = Date()
                #expect(throws: CocoaError(.userCancelled)) {
                    try FetchInterruption.interrupting(when: { Date().timeIntervalSince(start) > 0.3 }) {
                        _ = try context.fetch(request)
                    }
                }
                #expect(Date().timeIntervalSince(start) < 30)
                #expect(try activeStatementCount() == 0)
                // The store and the pinned state can still be read.
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 30_000)
            }
        }

        @Test func `the deadline of a pool's request, and its cancellation, end the server's statement`() async throws {
            nonisolated(unsafe) let request = try slowRequest()
            let stack = stack
            let pool = ContextPool(limit: 1) { stack.context(.privateQueueConcurrencyType) }
            let error = await #expect(throws: CocoaError.self) {
                try await pool.withContext(timeout: .milliseconds(300)) { try $0.fetch(request).count }
            }
            #expect(error?.code == .persistentStoreTimeout)
            #expect(try activeStatementCount() == 0)
            let task = Task { try await pool.withContext { try $0.fetch(request).count } }
            while try activeStatementCount() == 0 { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try activeStatementCount() == 0)
            let count = try await pool.withContext {
                try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
            }
            #expect(count == 30_000)
        }
    }
#endif
