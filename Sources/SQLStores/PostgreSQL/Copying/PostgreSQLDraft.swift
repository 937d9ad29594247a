#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient

    /// A store that is created in a schema of its own, beside that of its final location in the same database. Its tables are
    /// moved there when it is complete.
    package struct PostgreSQLDraft {
        /// The location of the draft.
        package let url: URL
        private let place: URL
        private let location: PostgreSQLLocation
        private let schema: String

        /// - Throws: Code 134080 if the URL is not that of a store in PostgreSQL.
        package init(for place: URL) throws {
            try self.init(for: place, schema: "coral_draft_" + UUID().uuidString.prefix(8).lowercased())
        }

        /// A draft in a schema with a name.
        init(for place: URL, schema: String) throws {
            self.place = place
            self.schema = schema
            location = try PostgreSQLLocation(place)
            guard let url = location.url(ofSchema: schema) else {
                throw CocoaError(
                    .persistentStoreOpen, "The URL of the store cannot be changed.",
                    url: PostgreSQLLocation.withoutPassword(place))
            }
            self.url = url
        }

        /// Moves the draft to its final location, in one transaction.
        ///
        /// - Parameter replacingStore: Whether it replaces a store that is there, whose connections are ended.
        /// - Throws: Code 516 if there is a store that must not be replaced, and errors of the server.
        package func commit(replacingStore: Bool) throws {
            do {
                let connection = try PostgreSQLConnection(location.server, settings: location.settings)
                defer { connection.close() }
                let tables = PostgreSQLTables(location: location)
                try connection.execute(script: "BEGIN; \(tables.lock)")
                let url = PostgreSQLLocation.withoutPassword(place)
                var statements = ["CREATE SCHEMA IF NOT EXISTS \(location.quotedSchema)"]
                if let (catalog, _) = try tables.existing(in: connection, url: url) {
                    guard replacingStore else {
                        throw CocoaError(
                            .fileWriteFileExists,
                            "The database has a store in the schema “\(location.schema)” already.", url: url)
                    }
                    try tables.lockOutOthers(in: connection)
                    statements += try PostgreSQLStore.drops(catalog, tables, in: connection)
                }
                try connection.execute(
                    script: (statements + moves(in: connection) + ["COMMIT"]).joined(separator: ";\n"))
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: place)
            }
        }

        /// The statements that move the tables, views and functions of the draft, and remove its schema.
        func moves(in connection: PostgreSQLConnection) throws -> [String] {
            let made = try connection.execute(
                """
                SELECT c.relname, c.relkind::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v') ORDER BY c.relname
                """, [.text(schema)])
            var statements: [String] = []
            for row in 0..<made.rowCount {
                guard let name = made.text(row, 0), let kind = made.text(row, 1) else { continue }
                statements.append(
                    "ALTER \(kind == "v" ? "VIEW" : "TABLE") \(PostgreSQLConnection.quoted(schema))."
                        + "\(PostgreSQLConnection.quoted(name)) SET SCHEMA \(location.quotedSchema)")
            }
            for name in try PostgreSQLTables.functions(ofSchema: schema, in: connection) {
                statements.append(
                    "ALTER FUNCTION \(PostgreSQLConnection.quoted(schema)).\(name)() SET SCHEMA \(location.quotedSchema)"
                )
                statements.append(
                    "ALTER FUNCTION \(location.quotedSchema).\(name)() SET search_path TO \(location.quotedSchema)")
            }
            return statements + ["DROP SCHEMA \(PostgreSQLConnection.quoted(schema))"]
        }

        /// Removes the draft.
        package func remove() { _ = try? PostgreSQLStore.removeTables(at: url) }
    }
#endif
