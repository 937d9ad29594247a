#if PostgreSQL
    import AtomicFiles
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import ModelFiles
    import PostgreSQLClient
    import SQLStatements

    // Stores that have not been added to a coordinator.

    extension PostgreSQLStore {
        /// What a store contains besides rows.
        struct Inspection {
            let metadata: StoreMetadata
            let model: NSManagedObjectModel?
            let hasHistory: Bool
            /// The size of all tables of the schema, in bytes.
            let byteCount: Int64
        }

        /// Reads the metadata and the model of a store.
        ///
        /// - Throws: Code 260 if the schema contains no store, and errors for a server that cannot be reached.
        static func inspect(_ url: URL) throws -> Inspection {
            try withConnection(to: url, .opening) { connection, tables in
                guard
                    let (catalog, metadata) = try tables.existing(
                        in: connection, url: PostgreSQLLocation.withoutPassword(url))
                else { throw missing(tables, url) }
                let size = try connection.execute(
                    """
                    SELECT COALESCE(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c \
                    JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'
                    """, [.text(tables.location.schema)])
                return Inspection(
                    metadata: metadata, model: try cachedModel(in: connection),
                    hasHistory: catalog.hasTable("ATRANSACTION"), byteCount: size.integer(0, 0))
            }
        }

        package static func cachedModel(in connection: PostgreSQLConnection) throws -> NSManagedObjectModel? {
            let cached = try connection.execute("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
            guard cached.rowCount == 1, let content = cached.data(0, 0) else { return nil }
            return try NSManagedObjectModel(value: try ModelCache.read(content))
        }

        static func missing(_ tables: PostgreSQLTables, _ url: URL) -> CocoaError {
            CocoaError(
                .fileReadNoSuchFile, "The database has no store in the schema “\(tables.location.schema)”.",
                url: PostgreSQLLocation.withoutPassword(url))
        }

        package static func withConnection<Result>(
            to url: URL, _ activity: StoreActivity,
            _ body: (PostgreSQLConnection, PostgreSQLTables) throws -> Result
        ) throws -> Result {
            do {
                let location = try PostgreSQLLocation(url)
                let connection = try PostgreSQLConnection(location.server, settings: location.settings)
                defer { connection.close() }
                return try body(connection, PostgreSQLTables(location: location))
            } catch {
                throw PostgreSQLFailure.translated(error, activity, url: url)
            }
        }

        /// See ``StoreInspection/stores(matching:)``.
        static func stores(matching url: URL) throws -> [URL] {
            try withConnection(to: url, .opening) { connection, tables in
                // The characters of LIKE that the pattern does not mean are escaped.
                var pattern = tables.location.schema
                for character in ["\\", "%", "_"] {
                    pattern = pattern.replacingOccurrences(of: character, with: "\\" + character, options: .literal)
                }
                pattern = pattern.replacingOccurrences(of: "*", with: "%", options: .literal)
                let found = try connection.execute(
                    """
                    SELECT n.nspname FROM pg_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.oid \
                    WHERE n.nspname LIKE $1 AND c.relname IN ('z_metadata', 'z_primarykey') AND c.relkind = 'r' \
                    GROUP BY n.nspname HAVING count(*) = 2 ORDER BY n.nspname
                    """, [.text(pattern)])
                return (0..<found.rowCount).compactMap { row in
                    found.text(row, 0).flatMap { PostgreSQLLocation.url(url, withSchema: $0) }
                }
            }
        }

        static func write(_ metadata: [String: Any], to url: URL) throws {
            try withConnection(to: url, .saving) { connection, tables in
                guard let stored = try tables.existing(in: connection, url: url.withoutPassword)?.metadata else {
                    throw missing(tables, url)
                }
                try tables.write(stored.replacing(with: metadata), in: connection)
            }
        }

        /// The tables of a store; tables of other programs in its schema are not among them.
        static func tableNames(_ catalog: SQLCatalog, in connection: PostgreSQLConnection) throws -> [String] {
            var names = PostgreSQLTables.ownTableNames
            if let model = try cachedModel(in: connection) {
                model.freeze()
                let schema = SQLSchemaBuilder.schema(of: model, catalog: catalog, naming: .postgreSQL)
                names += schema.tables.map(\.name) + schema.joinTables.map(\.name)
            }
            return names.filter(catalog.hasTable)
        }

        /// The statements that remove the tables, views and functions of a store.
        static func drops(
            _ catalog: SQLCatalog, _ tables: PostgreSQLTables, in connection: PostgreSQLConnection
        ) throws -> [String] {
            try tableNames(catalog, in: connection).map { "DROP TABLE \($0) CASCADE" }
                + tables.functionDrops(in: connection)
        }

        /// Removes the tables and views of a store, and its schema if nothing else is in it. A schema without a store is left
        /// as it is.
        static func removeTables(at url: URL) throws {
            try withConnection(to: url, .saving) { connection, tables in
                guard let (catalog, _) = try tables.existing(in: connection, url: url.withoutPassword) else { return }
                let drops = try drops(catalog, tables, in: connection)
                try connection.execute(script: (["BEGIN"] + drops + ["COMMIT"]).joined(separator: ";\n"))
                _ = try? connection.execute(script: "DROP SCHEMA \(tables.location.quotedSchema)")
            }
        }
    }
#endif
