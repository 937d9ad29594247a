#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import PostgreSQLClient
    import Testing

    @testable import EngineTesting

    @testable import ContextPools
    @testable import ManagedObjects
    @testable import SQLStores

    /// Many tenants with a schema each, and few connections. Without a server the tests are skipped.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLTenantTests {
        private let url: URL
        /// The beginning of the names of the schemas.
        private let prefix = "tenant_" + UUID().uuidString.prefix(8).lowercased()

        init() throws { url = try #require(TestStores.url(TestStores.postgreSQL)) }

        private func pool(
            limit: Int, openLimit: Int, options: [String: NSNumber] = [:]
        ) -> TenantPool {
            TenantPool(managedObjectModel: NotesModel.make(), limit: limit, openLimit: openLimit) {
                [url, prefix] name in
                let description = NSPersistentStoreDescription(
                    url: PostgreSQLLocation.url(url, withSchema: "\(prefix)_\(name)") ?? url)
                description.type = TestStores.postgreSQL
                for (key, value) in options { description.setOption(value, forKey: key) }
                return description
            }
        }

        /// The result of a query of a connection that is not the pool's.
        private func number(_ query: String) throws -> Int64 {
            let location = try PostgreSQLLocation(url)
            return try PostgreSQLConnection(location.server).execute(query).integer(0, 0)
        }

        private var connectionCount: Int64 {
            get throws {
                try number("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'coral \(prefix)%'")
            }
        }

        private static func titles(_ context: NSManagedObjectContext) throws -> Set<String> {
            Set(try context.all("Note").compactMap { $0.value(forKey: "title") as? String })
        }

        @Test(arguments: [
            [:], [NSPersistentHistoryTrackingKey: true],
            [NSPersistentHistoryTrackingKey: true, HistoryOldValuesOption: true],
        ])
        func `tenants share connections, and see their own objects`(options: [String: NSNumber]) async throws {
            let pool = pool(limit: 4, openLimit: 100, options: options)
            try await withThrowingTaskGroup { group in
                for number in 0..<60 {
                    group.addTask {
                        try await pool.withContext(for: "\(number % 10)") { context in
                            let note = context.insert("Note", ["title": "\(number)"])
                            note.setValue(Set([context.insert("Note", ["count": number])]), forKey: "related")
                            try context.save()
                            note.setValue("changed \(number)", forKey: "title")
                            try context.save()
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(pool.openCount == 10)
            #expect((1...4).contains(try connectionCount))
            for tenant in 0..<10 {
                let found = try await pool.withContext(for: "\(tenant)", Self.titles)
                #expect(found == Set((0..<6).map { "changed \(tenant + 10 * $0)" }))
            }
            await pool.shutDown()
        }

        @Test func `stores of one form share the mapping of the model`() async throws {
            let pool = pool(limit: 2, openLimit: 10)
            @Sendable func form(_ context: NSManagedObjectContext) throws -> ObjectIdentifier {
                let store = context.persistentStoreCoordinator?.persistentStores.first as? PostgreSQLStore
                return ObjectIdentifier(try #require(store).content().form)
            }
            for tenant in ["a", "b"] {
                try await pool.withContext(for: tenant) { _ in }
                // The store has been created. From now on it exists.
                pool.close(tenant)
            }
            let shared = try await pool.withContext(for: "a", form)
            #expect(try await pool.withContext(for: "b", form) == shared)
            pool.close("b")
            // A table that differs makes another form.
            let location = try PostgreSQLLocation(url)
            try PostgreSQLConnection(location.server).execute(
                script: "ALTER TABLE \(prefix)_b.znote ADD COLUMN own BIGINT")
            #expect(try await pool.withContext(for: "b", form) != shared)
        }

        @Test func `tenants whose tables differ leave nothing behind, and the last store closes the connections`()
            async throws
        {
            let pool = pool(limit: 2, openLimit: 3)
            let location = try PostgreSQLLocation(url)
            for tenant in 0..<10 {
                try await pool.withContext(for: "\(tenant)") { _ in }
                pool.close("\(tenant)")
                try PostgreSQLConnection(location.server).execute(
                    script: "ALTER TABLE \(prefix)_\(tenant).znote ADD COLUMN own\(tenant) BIGINT")
            }
            for tenant in 0..<10 { try await pool.withContext(for: "\(tenant)") { _ in } }
            // The connections, the forms of the open stores, and one that was closed afterwards.
            #expect(pool.shared.count <= 5)
            #expect(try connectionCount > 0)
            await pool.shutDown()
            for _ in 0..<500 where try connectionCount > 0 { usleep(10_000) }
            #expect(try connectionCount == 0)
        }

        @Test func `a connection that was lost is replaced for the next tenant`() async throws {
            let pool = pool(limit: 1, openLimit: 10)
            for tenant in ["a", "b", "a", "b"] {
                try await pool.withContext(for: tenant) { context in
                    _ = context.insert("Note", ["title": tenant])
                    try context.save()
                }
                _ = try number(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'coral \(prefix)%'"
                )
            }
            #expect(try await pool.withContext(for: "a", Self.titles) == ["a"])
        }

        @Test func `a tenant whose store was migrated is refused, and the others go on`() async throws {
            let pool = pool(
                limit: 1, openLimit: 10, options: [NSMigratePersistentStoresAutomaticallyOption: false])
            for tenant in ["a", "b"] { try await pool.withContext(for: tenant) { _ in } }
            let model = NotesModel.make()
            let note = try #require(model.entitiesByName["Note"])
            note.properties += [NotesModel.attribute("added", .stringAttributeType)]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: TestStores.postgreSQL, configurationName: nil,
                at: PostgreSQLLocation.url(url, withSchema: "\(prefix)_a"),
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
            for _ in 0..<2 {
                let error = await #expect(throws: CocoaError.self) {
                    try await pool.withContext(for: "a") { context in
                        _ = context.insert("Note", ["title": "lost"])
                        try context.save()
                    }
                }
                #expect(error?.code == .persistentStoreIncompatibleVersionHash)
                #expect(try await pool.withContext(for: "b", Self.titles) == [])
            }
        }

        @Test func `opening a store reads the catalogue by an index`() async throws {
            let pool = pool(limit: 1, openLimit: 10)
            try await pool.withContext(for: "a") { _ in }
            let location = try PostgreSQLLocation(try #require(PostgreSQLLocation.url(url, withSchema: "\(prefix)_a")))
            let connection = try PostgreSQLConnection(location.server, settings: location.settings)
            var statements: [String] = []
            connection.trace = { statements.append($0) }
            _ = try PostgreSQLTables(location: location).existing(in: connection, url: nil)
            let reading = try #require(statements.first { $0.contains("pg_attribute") })
            connection.trace = nil
            let parameter = PostgreSQLConnection.literal(location.schema)
            let plan = try connection.execute(
                "EXPLAIN \(reading.replacingOccurrences(of: "$1", with: parameter))")
            let lines = (0..<plan.rowCount).compactMap { plan.text($0, 0) }
            #expect(
                !lines.contains { $0.contains("Seq Scan on pg_class") || $0.contains("Seq Scan on pg_attribute") },
                "\(lines)")
        }
    }
#endif
