#if PostgreSQL
    import Foundation
    import PostgreSQLClient

    /// Replaces the tables of a store by those of another version of its model, which are filled in a schema beside it.
    ///
    /// Other processes can read the store while the new tables are filled, and writers wait. Then their connections are ended, and
    /// the tables are exchanged in the same transaction. A process with the old model finds the new version when it connects
    /// again. If anything fails, the store is as it was.
    struct PostgreSQLReplacement {
        let url: URL
        /// The metadata with which the store was opened.
        let metadata: [String: Any]

        /// - Parameter fill: Creates and fills a store at a location.
        func run(_ fill: (URL) throws -> Void) throws {
            let location = try PostgreSQLLocation(url)
            let draft = "coral_draft_" + UUID().uuidString.prefix(8).lowercased()
            guard let draftURL = location.url(ofSchema: draft) else {
                throw CocoaError(
                    .migration, "The URL of the store cannot be changed.", url: PostgreSQLLocation.withoutPassword(url))
            }
            do {
                let connection = try PostgreSQLConnection(location.server, setup: location.setup)
                defer { connection.close() }
                do {
                    try replace(location, draft, connection) { try fill(draftURL) }
                } catch {
                    if connection.isOpen { _ = try? connection.execute(script: "ROLLBACK") }
                    _ = try? PostgreSQLStore.removeTables(at: draftURL)
                    throw error
                }
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: url)
            }
        }

        private func replace(
            _ location: PostgreSQLLocation, _ draft: String, _ connection: PostgreSQLConnection,
            _ fill: () throws -> Void
        ) throws {
            let tables = PostgreSQLTables(location: location)
            try connection.execute(script: "BEGIN; \(tables.lock)")
            guard let (catalog, stored) = try tables.existing(in: connection, url: url),
                NSDictionary(dictionary: Self.hashes(stored.published)).isEqual(to: Self.hashes(metadata))
            else {
                throw CocoaError(
                    .persistentStoreIncompatibleVersionHash,
                    "Another process has migrated the store to another version of the model.",
                    url: PostgreSQLLocation.withoutPassword(url))
            }
            let old = try PostgreSQLStore.tableNames(catalog, in: connection)
            try connection.execute(script: "LOCK TABLE \(old.joined(separator: ", ")) IN SHARE MODE")
            try fill()
            try endOthers(location, connection)
            let made = try connection.execute(
                """
                SELECT c.relname, c.relkind::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                WHERE n.nspname = $1 AND c.relkind IN ('r', 'v') ORDER BY c.relname
                """, [.text(draft)])
            var statements = old.map { "DROP TABLE \($0) CASCADE" }
            for row in 0..<made.rowCount {
                guard let name = made.text(row, 0), let kind = made.text(row, 1) else { continue }
                statements.append(
                    "ALTER \(kind == "v" ? "VIEW" : "TABLE") \(PostgreSQLConnection.quoted(draft))."
                        + "\(PostgreSQLConnection.quoted(name)) SET SCHEMA \(location.quotedSchema)")
            }
            statements += ["DROP SCHEMA \(PostgreSQLConnection.quoted(draft))", "COMMIT"]
            try connection.execute(script: statements.joined(separator: ";\n"))
        }

        /// Ends the connections of other processes, and locks the metadata: new connections wait for the commit, because they
        /// read the metadata first.
        private func endOthers(_ location: PostgreSQLLocation, _ connection: PostgreSQLConnection) throws {
            func end() throws {
                try connection.execute(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 \
                    AND datname = current_database() AND pid <> pg_backend_pid()
                    """, [.text(location.applicationName)])
            }
            for attempt in 1... {
                try end()
                do {
                    // A connection that was made meanwhile may hold the table for a long time.
                    try connection.execute(
                        script: "SAVEPOINT locking; SET LOCAL lock_timeout TO 200; "
                            + "LOCK TABLE Z_METADATA IN ACCESS EXCLUSIVE MODE; RESET lock_timeout")
                    return try end()
                } catch let error as PostgreSQLError where error.state == "55P03" && attempt < 50 {
                    try connection.execute(script: "ROLLBACK TO SAVEPOINT locking")
                }
            }
        }

        private static func hashes(_ metadata: [String: Any]) -> [String: Any] {
            metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]
        }
    }
#endif
