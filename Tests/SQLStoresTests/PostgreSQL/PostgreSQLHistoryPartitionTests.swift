#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Testing

    @testable import EngineTesting
    @testable import ManagedObjects
    @testable import SQLStores

    /// Histories whose tables have partitions.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLHistoryPartitionTests {
        private let url: URL
        private static let width = 10

        init() throws { url = try #require(TestStores.url(TestStores.postgreSQL)) }

        private func stack(
            width: Int? = width, isConcurrent: Bool = false, keepsOldValues: Bool = false
        ) throws -> (TestStack, PostgreSQLStore) {
            var options: [AnyHashable: Any] = [
                NSPersistentHistoryTrackingKey: true, ConcurrentHistoryOption: isConcurrent,
                HistoryOldValuesOption: keepsOldValues,
            ]
            options[HistoryPartitionWidthOption] = width
            let stack = try TestStack(type: TestStores.postgreSQL, url: url, options: options)
            return (stack, try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore))
        }

        private func save(_ count: Int, in stack: TestStack) throws {
            let context = stack.context()
            let note = context.insert("Note", ["title": "note"])
            for number in 0..<count {
                note.setValue(number, forKey: "count")
                try context.save()
            }
        }

        private func history(
            after token: NSPersistentHistoryToken? = nil, in stack: TestStack
        ) throws -> [NSPersistentHistoryTransaction] {
            let result = try stack.coordinator.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
            return try #require(result.result as? [NSPersistentHistoryTransaction])
        }

        private func connection(_ store: PostgreSQLStore) throws -> PostgreSQLConnection {
            let location = try store.content().location
            return try PostgreSQLConnection(location.server, settings: location.settings)
        }

        /// The partitions of the transactions with the numbers of their rows.
        private func partitions(_ store: PostgreSQLStore) throws -> [String: Int64] {
            let connection = try connection(store)
            let names = try PostgreSQLTables(location: store.content().location).partitionNames(in: connection)
            var counts: [String: Int64] = [:]
            for name in names where name.hasPrefix("atransaction") {
                counts[String(name.dropFirst("atransaction_".count))] =
                    try connection.execute("SELECT count(*) FROM \(name)").integer(0, 0)
            }
            return counts
        }

        @Test(arguments: [false, true])
        func `a purge drops whole partitions and deletes the other rows`(keepsOldValues: Bool) throws {
            let (stack, store) = try stack(keepsOldValues: keepsOldValues)
            #expect(try partitions(store) == ["p0": 0, "p10": 0, "p20": 0, "default": 0])
            try save(35, in: stack)
            var found = try partitions(store)
            #expect(found.removeValue(forKey: "default") == 0, "partitions were made ahead of the saves")
            #expect(found.filter { $0.value > 0 } == ["p0": 9, "p10": 10, "p20": 10, "p30": 6])
            let all = try history(in: stack)
            #expect(all.map(\.transactionNumber) == Array(1...35))
            try stack.coordinator.purgeHistory(.beforeToken(all[24].token))
            let left = try history(in: stack).map(\.transactionNumber)
            #expect(left == Array(25...35))
            found = try partitions(store)
            #expect(found["p0"] == nil && found["p10"] == nil)
            #expect(found["p20"] == Int64(left.filter { $0 < 30 }.count))
            #expect(throws: CocoaError.self) { try history(after: all[5].token, in: stack) }
            #expect(try history(after: all[29].token, in: stack).count == 5)
            if keepsOldValues {
                let oldest = try connection(store).execute(
                    "SELECT min(TRANSACTIONID) FROM \(OldValueStatements.values)")
                #expect(oldest.integer(0, 0) >= left.first ?? 0)
            }
            try stack.coordinator.purgeHistory(.keepingChanges(0))
            #expect(try history(in: stack).isEmpty)
            try save(1, in: stack)
            #expect(try history(in: stack).map(\.transactionNumber) == [36])
        }

        @Test func `a history that is numbered concurrently has partitions too`() throws {
            let (stack, store) = try stack(isConcurrent: true)
            try save(60, in: stack)
            let all = try history(in: stack)
            #expect(all.count == 60)
            let before = try partitions(store)
            #expect(before.values.reduce(0, +) == 60)
            try stack.coordinator.purgeHistory(.beforeToken(all[50].token))
            #expect(try partitions(store).count < before.count)
            #expect(
                try history(after: all[50].token, in: stack).map(\.transactionNumber)
                    == all[51...].map(\.transactionNumber))
            #expect(throws: CocoaError.self) { try history(after: all[10].token, in: stack) }
        }

        @Test func `rows without a partition, and partitions that others read, are deleted one by one`() throws {
            let (stack, store) = try stack()
            try save(5, in: stack)
            let (other, _) = try self.stack(width: nil)
            let connection = try connection(store)
            try connection.execute(script: "DROP TABLE ATRANSACTION_P10, ACHANGE_P10, ATRANSACTION_P20, ACHANGE_P20")
            // As a program of an earlier version, which makes no partitions.
            try connection.execute(
                script: """
                    UPDATE Z_PRIMARYKEY SET Z_MAX = 15 WHERE Z_ENT = 16002;
                    INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (15, 16002, 0);
                    INSERT INTO ACHANGE (Z_PK, Z_ENT, ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK) VALUES (1000, 16001, 15, 1, 1, 1)
                    """)
            try save(20, in: other)
            let all = try history(in: stack)
            #expect(all.count == 26)
            // A reader keeps the first partition.
            try connection.execute(script: "BEGIN; SELECT count(*) FROM ATRANSACTION_P0")
            try stack.coordinator.purgeHistory(.beforeToken(all[24].token))
            try connection.execute(script: "COMMIT")
            #expect(try history(in: stack).map(\.transactionNumber) == [34, 35])
            #expect(try partitions(store)["p0"] == 0)
            // Nobody reads it any more.
            try stack.coordinator.purgeHistory(.keepingChanges(1))
            #expect(try partitions(store)["p0"] == nil)
            #expect(try history(in: stack).count == 1)
        }

        @Test func `a store with partitions is inspected, copied, migrated and removed like others`() throws {
            let (stack, store) = try stack()
            try save(25, in: stack)
            #expect(try PostgreSQLStore.inspect(url).hasHistory)
            #expect(try StoreUpgrade(url: url).plan().steps.isEmpty)
            let copy = try #require(PostgreSQLLocation.url(url, withSchema: store.content().location.schema + "_copy"))
            try PostgreSQLCopy(from: url, to: copy).run()
            let copied = try TestStack(
                type: TestStores.postgreSQL, url: copy, options: [NSPersistentHistoryTrackingKey: true])
            #expect(try history(in: copied).map(\.transactionNumber) == history(in: stack).map(\.transactionNumber))
            try save(1, in: copied)
            #expect(try history(in: copied).count == 26)
            for (stack, url) in [(copied, copy), (stack, url)] {
                for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
                try PostgreSQLStore.destroyStore(at: url, isForced: false)
            }
            let remaining = try PostgreSQLConnection(TestStores.server ?? "").execute(
                "SELECT count(*) FROM pg_namespace WHERE nspname = $1", [.text(try PostgreSQLLocation(url).schema)])
            #expect(remaining.integer(0, 0) == 0)
        }
    }
#endif
