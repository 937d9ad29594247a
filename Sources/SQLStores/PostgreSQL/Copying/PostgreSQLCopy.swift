#if PostgreSQL
    import AtomicFiles
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// Copies a store to another schema of its database by SQL: the tables as they are, with damaged rows, history and metadata.
    ///
    /// All is read in one state of the store.
    struct PostgreSQLCopy {
        private let source: URL
        private let location: PostgreSQLLocation
        private let target: PostgreSQLLocation

        /// - Throws: Code 134080 if the URLs are not those of stores in one database.
        init(from source: URL, to destination: URL) throws {
            self.source = source
            location = try PostgreSQLLocation(source)
            target = try PostgreSQLLocation(destination)
            guard location.server == target.server, location.schema != target.schema else {
                throw CocoaError(
                    .persistentStoreOpen,
                    "A store in PostgreSQL is copied as it is to another schema of its database only. Elsewhere, "
                        + "migratePersistentStore copies its rows.",
                    url: PostgreSQLLocation.withoutPassword(destination))
            }
        }

        /// Cost: each row is copied by the server, and each index is made anew.
        ///
        /// - Throws: Code 260 if there is no store, and errors of the server; a schema of the name must not exist.
        func run() throws {
            do {
                let connection = try PostgreSQLConnection(location.server, settings: location.settings)
                // Ends the transaction if it was not committed.
                defer { connection.close() }
                try copy(connection)
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: source)
            }
        }

        private func copy(_ connection: PostgreSQLConnection) throws {
            let tables = PostgreSQLTables(location: location)
            try connection.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ")
            guard let (catalog, _) = try tables.existing(in: connection, url: source.withoutPassword) else {
                throw PostgreSQLStore.missing(tables, source)
            }
            var statements = ["CREATE SCHEMA \(target.quotedSchema)"]
            var definitions: [String] = []
            for name in try PostgreSQLStore.tableNames(catalog, in: connection) {
                let copy = "\(target.quotedSchema).\(name)"
                statements.append(
                    "CREATE TABLE \(copy) (LIKE \(name) INCLUDING DEFAULTS INCLUDING GENERATED)"
                        + (try Self.options(ofTable: name, in: connection)))
                statements.append("INSERT INTO \(copy) SELECT * FROM \(name)")
                definitions += try Self.definitions(ofTable: name, in: connection)
            }
            if let model = try PostgreSQLStore.cachedModel(in: connection) {
                definitions += Self.viewsAndTriggers(of: model, catalog)
            }
            // The names in the definitions are those of the target from here.
            statements.append("SET LOCAL search_path TO \(target.quotedSchema)")
            for statement in statements + definitions { try connection.execute(script: statement) }
            try connection.execute(script: "COMMIT")
        }

        /// The statements that create the views, functions and triggers of a store.
        static func viewsAndTriggers(of model: NSManagedObjectModel, _ catalog: SQLCatalog) -> [String] {
            model.freeze()
            let schema = SQLSchemaBuilder.schema(of: model, catalog: catalog, naming: .postgreSQL)
            let keepsOldValues = catalog.hasTable(OldValueStatements.values)
            return PostgreSQLViews(schema: schema).statements + PostgreSQLDerivedTriggers(schema).statements
                + (keepsOldValues ? PostgreSQLOldValues(schema).triggers : [])
        }

        /// The storage parameters of a table, which LIKE does not copy, such as ` WITH (fillfactor=70)`; empty if there are none.
        static func options(ofTable name: String, in connection: PostgreSQLConnection) throws -> String {
            let found = try connection.execute(
                "SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = to_regclass($1)", [.text(name)])
            return found.rowCount == 1 ? found.text(0, 0).map { " WITH (\($0))" } ?? "" : ""
        }

        /// The statements that create the constraints and indexes of a table, without the name of its schema. Columns that must have
        /// a value are not among them.
        static func definitions(
            ofTable name: String, in connection: PostgreSQLConnection
        ) throws -> [String] {
            let found = try connection.execute(
                """
                SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', $1, k.conname, pg_get_constraintdef(k.oid)) \
                FROM pg_constraint AS k WHERE k.conrelid = to_regclass($1) AND k.contype <> 'n' UNION ALL \
                SELECT pg_get_indexdef(i.indexrelid, 0, true) FROM pg_index AS i WHERE i.indrelid = to_regclass($1) \
                AND NOT EXISTS (SELECT 1 FROM pg_constraint AS k WHERE k.conindid = i.indexrelid)
                """, [.text(name)])
            return (0..<found.rowCount).compactMap { found.text($0, 0) }
        }
    }
#endif
