#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import ModelFiles
    import PostgreSQLClient
    import SQLStatements

    /// Creates the tables of a store in a schema, and reads which it has.
    package struct PostgreSQLTables {
        let location: PostgreSQLLocation

        package init(location: PostgreSQLLocation) { self.location = location }

        /// The first part of the names of advisory locks.
        static let lockSpace = 0x436F_7261

        /// The tables and metadata of a store; nil if the schema does not contain one.
        func existing(
            in connection: PostgreSQLConnection, url: URL?
        ) throws -> (catalog: SQLCatalog, metadata: StoreMetadata)? {
            let catalog = try catalog(in: connection)
            // The metadata come first: where a store was moved away, they say so, and there is nothing else.
            guard catalog.hasTable("Z_METADATA"), let metadata = try metadata(in: connection, url: url),
                catalog.hasTable("Z_PRIMARYKEY")
            else {
                guard catalog.isEmpty else {
                    throw CocoaError(
                        .persistentStoreOpen,
                        "The schema “\(location.schema)” has tables, but is not a store of Core Data.", url: url)
                }
                return nil
            }
            return (catalog, metadata)
        }

        /// The tables of the schema with their columns, named as the engine names them: in upper case.
        package func catalog(in connection: PostgreSQLConnection) throws -> SQLCatalog {
            var catalog = SQLCatalog()
            // The tables of a schema have no index in `pg_class`, which has those of all schemas. Their dependencies on it have one.
            let columns = try connection.execute(
                """
                SELECT c.relname, a.attname, format_type(a.atttypid, NULL) FROM pg_namespace AS n \
                JOIN pg_depend AS d ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid \
                AND d.classid = 'pg_class'::regclass JOIN pg_class AS c ON c.oid = d.objid AND c.relnamespace = n.oid \
                JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
                WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname, a.attnum
                """, [.text(location.schema)])
            for row in 0..<columns.rowCount {
                guard let table = columns.text(row, 0), let column = columns.text(row, 1) else { continue }
                catalog.columns[Self.uppercased(table), default: []].append(Self.uppercased(column))
                catalog.columnTypes[Self.uppercased(table), default: [:]][Self.uppercased(column)] = columns.text(
                    row, 2)
            }
            guard catalog.hasTable("Z_PRIMARYKEY") else { return catalog }
            let numbers = try connection.execute("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY")
            for row in 0..<numbers.rowCount {
                if let name = numbers.text(row, 0) { catalog.numbers[name] = numbers.integer(row, 1) }
            }
            return catalog
        }

        /// Rejects tables with columns whose types are not those in which values are written and read.
        ///
        /// - Throws: Code 259.
        func requireTypes(of schema: SQLSchema, _ catalog: SQLCatalog, url: URL?) throws {
            for definition in schema.tableDefinitions {
                for column in definition.columns {
                    guard let type = catalog.columnTypes[definition.name]?[column.name],
                        !PostgreSQLDialect.isType(type, of: column.type)
                    else { continue }
                    throw CocoaError(
                        .fileReadCorruptFile,
                        "The store is damaged: the column \(definition.name).\(column.name) has the type \(type), which its values "
                            + "do not have.",
                        url: url)
                }
            }
        }

        /// The names of the partitions of tables, which are not tables of the catalog.
        func partitionNames(in connection: PostgreSQLConnection) throws -> [String] {
            let names = try connection.execute(
                """
                SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relispartition ORDER BY c.relname
                """, [.text(location.schema)])
            return (0..<names.rowCount).compactMap { names.text($0, 0) }
        }

        /// The names of the indexes of the schema, in upper case.
        package func indexNames(in connection: PostgreSQLConnection) throws -> Set<String> {
            let names = try connection.execute(
                "SELECT indexname FROM pg_indexes WHERE schemaname = $1", [.text(location.schema)])
            return Set((0..<names.rowCount).compactMap { names.text($0, 0).map(Self.uppercased) })
        }

        /// PostgreSQL writes the ASCII letters of a name without quotes in lower case.
        package static func uppercased(_ name: String) -> String {
            String(decoding: name.utf8.map { (97...122).contains($0) ? $0 - 32 : $0 }, as: UTF8.self)
        }

        /// The name that an unquoted name has in the database.
        package static func lowercased(_ name: String) -> String {
            String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
        }

        /// Waits for other transactions that create or change tables of the schema.
        var lock: String {
            "SELECT pg_advisory_xact_lock(\(Self.lockSpace), hashtext(\(PostgreSQLConnection.literal(location.schema))))"
        }

        /// Takes the lock of an activity for which a store has one process at a time. The session holds it. The server may need a
        /// moment to notice that the process of an interrupted activity has ended.
        ///
        /// - Returns: Whether it was taken. False after ten seconds.
        func takeLock(
            of activity: String, in connection: PostgreSQLConnection, isCancelled: () -> Bool
        ) throws -> Bool {
            let name = PostgreSQLConnection.literal("\(activity) \(location.schema)")
            for attempt in 0...100 {
                if attempt > 0 { Thread.sleep(forTimeInterval: 0.1) }
                let taken = try connection.execute(
                    "SELECT pg_try_advisory_lock(\(Self.lockSpace), hashtext(\(name)))::int")
                if taken.integer(0, 0) == 1 { return true }
                guard !isCancelled() else { throw CocoaError(.userCancelled) }
            }
            return false
        }

        // MARK: - Creation

        /// Creates the schema and the tables in one transaction. If another process does so at the same time, one of them
        /// waits and uses the other's tables.
        ///
        /// - Returns: The metadata of the store.
        func create(
            _ schema: SQLSchema, of model: Model, _ metadata: StoreMetadata, in connection: PostgreSQLConnection,
            url: URL?
        ) throws -> StoreMetadata {
            try connection.execute(script: "BEGIN; \(lock)")
            if let other = try existing(in: connection, url: url) {
                try connection.execute(script: "ROLLBACK")
                return other.metadata
            }
            let dialect = PostgreSQLDialect()
            let statements = ["CREATE SCHEMA IF NOT EXISTS \(location.quotedSchema)"] + Self.statements(schema)
            try connection.execute(script: statements.joined(separator: ";\n"))
            for entity in schema.entities {
                let superentity = entity.entity.superentity.flatMap { schema.entity(at: $0)?.number } ?? 0
                try connection.execute(
                    dialect.text(of: KeyCommands.insertion),
                    [.integer(entity.number), .text(entity.entity.name), .integer(superentity), .integer(0)])
            }
            try write(metadata, in: connection)
            let cached = try ModelCache.write(model)
            try connection.execute("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES ($1)", [.bytes(cached)])
            try connection.execute(script: "COMMIT")
            return metadata
        }

        /// The statements that create everything that a new store has in its schema.
        static func statements(_ schema: SQLSchema) -> [String] {
            let dialect = PostgreSQLDialect()
            return schema.tableDefinitions.map { dialect.text(of: $0) } + schema.indexStatements(in: dialect)
                + ownTables
                + PostgreSQLViews(schema: schema).statements + PostgreSQLDerivedTriggers(schema).statements
        }

        /// The names of the tables that are not those of entities and relationships. The marks are first, because each save begins with
        /// one: work that locks the tables in this order waits for the saves that run, and holds no lock that they need.
        package static let ownTableNames = [
            "Z_SAVEMARK", "Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING",
            OldValueStatements.values, OldValueStatements.pairs, PostgreSQLMoveLog.table,
        ]

        /// The names of the functions of triggers in a schema.
        static func functions(ofSchema schema: String, in connection: PostgreSQLConnection) throws -> [String] {
            let found = try connection.execute(
                """
                SELECT p.proname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace \
                WHERE n.nspname = $1 AND left(p.proname, 5) IN ($2, $3, $4) ORDER BY p.proname
                """,
                [.text(schema)]
                    + [PostgreSQLDerivedTriggers.prefix, PostgreSQLOldValues.prefix, PostgreSQLMoveLog.prefix].map {
                        .text(Self.lowercased($0))
                    })
            return (0..<found.rowCount).compactMap { found.text($0, 0) }
        }

        /// The statements that remove the functions of a store with their triggers.
        func functionDrops(in connection: PostgreSQLConnection) throws -> [String] {
            try Self.functions(ofSchema: location.schema, in: connection).map { "DROP FUNCTION \($0)() CASCADE" }
        }

        static let metadataTable =
            "CREATE TABLE Z_METADATA (Z_VERSION BIGINT PRIMARY KEY, Z_UUID TEXT, Z_PLIST BYTEA)"

        private static let ownTables = [
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT BIGINT PRIMARY KEY, Z_NAME TEXT, Z_SUPER BIGINT, Z_MAX BIGINT)",
            metadataTable,
            "CREATE TABLE Z_MODELCACHE (Z_CONTENT BYTEA)",
            // The marks of transactions, by which a save finds out whether it was committed.
            "CREATE TABLE Z_SAVEMARK (Z_MARK UUID PRIMARY KEY, Z_TIME TIMESTAMPTZ NOT NULL DEFAULT now())",
        ]

        // MARK: - History

        /// The tables of the history, which are created if `isWanted` is true; nil if the store has none.
        ///
        /// - Parameters:
        ///   - keepsOldValues: Whether old values are recorded too, if `isWanted` is true.
        ///   - partitionWidth: The width of the partitions of a history that is created; nil for one without partitions.
        func history(
            _ schema: SQLSchema, isWanted: Bool, keepsOldValues: Bool = false, partitionWidth: Int64? = nil,
            in connection: PostgreSQLConnection
        ) throws -> HistoryTables? {
            func tombstones() throws -> Int? {
                let columns = try connection.execute(
                    """
                    SELECT a.attname FROM pg_attribute AS a WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 \
                    AND NOT a.attisdropped
                    """, [.text("\(location.quotedSchema).achange")])
                guard columns.rowCount > 0 else { return nil }
                return (0..<columns.rowCount).count { columns.text($0, 0)?.hasPrefix("ztombstone") == true }
            }
            let needed = HistoryTables.neededTombstoneCount(schema)
            var present = try tombstones()
            if isWanted, present.map({ $0 < needed }) ?? true {
                let dialect = PostgreSQLDialect()
                try connection.execute(script: "BEGIN; \(lock)")
                // Read again in the transaction, because another process may have created them.
                present = try tombstones()
                var statements: [String] = []
                if present == nil {
                    statements +=
                        partitionWidth.map { HistoryPartitions.creation(width: $0, Self.historyTables) }
                        ?? Self.historyTables
                    statements += [
                        (HistoryTables.Number.change, "CHANGE"), (HistoryTables.Number.transaction, "TRANSACTION"),
                    ].map {
                        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\($0), '\($1)', 0, 0) "
                            + "ON CONFLICT DO NOTHING"
                    }
                }
                for number in (present ?? 0)..<max(present ?? 0, needed) {
                    statements.append(dialect.text(of: HistoryStatements.addTombstone(number)))
                }
                try connection.execute(script: (statements + ["COMMIT"]).joined(separator: ";\n"))
                present = max(present ?? 0, needed)
            }
            guard let present else { return nil }
            var tables = HistoryTables(hasStrings: false, tombstoneCount: present)
            tables.hasByteTombstones = true
            if isWanted, keepsOldValues {
                try createOldValues(schema, in: connection)
                tables.keepingOldValues = OldValueStatements.keeping(schema).map(PostgreSQLDialect().parameterized)
            }
            return tables
        }

        /// Begins to number transactions concurrently, unless the store does so.
        func numberConcurrently(in connection: PostgreSQLConnection) throws {
            let numbered = try connection.execute(
                "SELECT 1 FROM Z_PRIMARYKEY WHERE Z_ENT = $1 AND Z_MAX IS NOT NULL",
                [.integer(HistoryTables.Number.transaction)])
            guard numbered.rowCount > 0 else { return }
            try connection.execute(
                script: (["BEGIN", lock] + HistoryNumbering.beginning + ["COMMIT"]).joined(separator: ";\n"))
        }

        /// The statements that create the tables of a history, without tombstones.
        static let historyTables =
            HistoryStatements.tablesWithFewIndexes.map { PostgreSQLDialect().text(of: $0) }
            + HistoryStatements.transactionIndexes.map { PostgreSQLDialect().text(of: $0) }

        private func createOldValues(_ schema: SQLSchema, in connection: PostgreSQLConnection) throws {
            func areMissing() throws -> Bool {
                try connection.execute(
                    "SELECT to_regclass($1)", [.text("\(location.quotedSchema).\(OldValueStatements.values)")]
                ).isNull(0, 0)
            }
            guard try areMissing() else { return }
            try connection.execute(script: "BEGIN; \(lock)")
            // Another process may have created them.
            let statements = try areMissing() ? PostgreSQLOldValues.creation + PostgreSQLOldValues(schema).triggers : []
            try connection.execute(script: (statements + ["COMMIT"]).joined(separator: ";\n"))
        }

        // MARK: - Metadata

        /// The metadata of the store; nil if there are none.
        ///
        /// - Throws: Code 134080 if the store was moved away, or is being moved here.
        func metadata(in connection: PostgreSQLConnection, url: URL?) throws -> StoreMetadata? {
            let metadata = try storedMetadata(in: connection, url: url)
            if let mark = metadata?.moveMark { throw mark.error(at: url) }
            return metadata
        }

        /// The metadata as they are stored: also those that stand where a store was moved away.
        func storedMetadata(in connection: PostgreSQLConnection, url: URL?) throws -> StoreMetadata? {
            let rows = try connection.execute("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
            guard rows.rowCount == 1 else { return nil }
            return try StoreMetadata(
                uuid: rows.text(0, 0) ?? UUID().uuidString, propertyList: rows.data(0, 1), url: url)
        }

        func write(_ metadata: StoreMetadata, in connection: PostgreSQLConnection) throws {
            try connection.execute(
                """
                INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, $1, $2) \
                ON CONFLICT (Z_VERSION) DO UPDATE SET Z_UUID = excluded.Z_UUID, Z_PLIST = excluded.Z_PLIST
                """, [.text(metadata.uuid), .bytes(try metadata.propertyList())])
        }
    }

    extension PostgreSQLTables {
        /// Ends the connections of other processes, and locks the metadata: new connections wait for the commit, because they
        /// read the metadata first.
        func lockOutOthers(in connection: PostgreSQLConnection) throws {
            for attempt in 1... {
                try endOthers(in: connection)
                do {
                    // A connection that was made meanwhile may hold the table for a long time.
                    try connection.execute(
                        script: "SAVEPOINT locking; SET LOCAL lock_timeout TO 200; "
                            + "LOCK TABLE Z_METADATA IN ACCESS EXCLUSIVE MODE; RESET lock_timeout")
                    return try endOthers(in: connection)
                } catch let error as PostgreSQLError where error.state == "55P03" && attempt < 50 {
                    try connection.execute(script: "ROLLBACK TO SAVEPOINT locking")
                }
            }
        }

        /// Ends the connections of other processes.
        func endOthers(in connection: PostgreSQLConnection) throws {
            try connection.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 \
                AND datname = current_database() AND pid <> pg_backend_pid()
                """, [.text(location.applicationName)])
        }
    }
#endif
