#if PostgreSQL
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    extension HistoryMigration {
        /// Rewrites the history of a store in PostgreSQL; does nothing if there is none. Call it in the transaction that migrates
        /// the rows.
        ///
        /// Cost: some statements, and two for each entity whose properties have changed. With `newKey`, three for each
        /// entity, and one lookup for each changed object.
        ///
        /// - Parameter newKey: See ``rewrite(in:newKey:)``.
        func rewrite(
            in connection: PostgreSQLConnection, catalog: SQLCatalog,
            newKey: ((SQLEntity, Int64) throws -> Int64?)? = nil
        ) throws {
            guard let columns = catalog.columns["ACHANGE"] else { return }
            try connection.execute(
                script: "DELETE FROM ACHANGE WHERE NOT ZENTITY = ANY('{\(list)}'::bigint[])")
            for (number, converted) in masks(isPadded: false).sorted(by: { $0.key < $1.key }) {
                let found = try connection.execute(
                    "SELECT DISTINCT ZCOLUMNS FROM ACHANGE WHERE ZENTITY = $1 AND ZCOLUMNS IS NOT NULL",
                    [.integer(number)])
                var (old, new) = (PostgreSQLArray(of: .bytes), PostgreSQLArray(of: .bytes))
                for row in 0..<found.rowCount {
                    guard let mask = found.data(row, 0) else { continue }
                    mask.withUnsafeBytes { old.append($0) }
                    if let mask = converted(mask) {
                        mask.withUnsafeBytes { new.append($0) }
                    } else {
                        new.appendNull()
                    }
                }
                try connection.execute(
                    "UPDATE ACHANGE SET ZCOLUMNS = w.n FROM unnest($2, $3) AS w(o, n) WHERE ZENTITY = $1 AND ZCOLUMNS = w.o",
                    [.integer(number), .array(old), .array(new)])
            }
            let present = columns.count { $0.hasPrefix("ZTOMBSTONE") }
            let (count, assignments) = tombstones(present: present)
            for number in present..<max(count, present) {
                try connection.execute(script: PostgreSQLDialect().text(of: HistoryStatements.addTombstone(number)))
            }
            for (number, text) in assignments {
                try connection.execute(
                    "UPDATE ACHANGE SET \(text) WHERE ZENTITY = $1 AND ZCHANGETYPE = 2", [.integer(number)])
            }
            if let newKey { try rewriteKeys(newKey, in: connection) }
            for table in PostgreSQLOldValues.tableNames where catalog.hasTable(table) {
                try connection.execute(script: "DELETE FROM \(table)")
            }
            if let renumbering = renumbering("ZENTITY") {
                try connection.execute(script: "UPDATE ACHANGE SET ZENTITY = \(renumbering)")
            }
        }

        private func rewriteKeys(
            _ newKey: (SQLEntity, Int64) throws -> Int64?, in connection: PostgreSQLConnection
        ) throws {
            for (old, new) in entities {
                guard let root = rootOfDestination(new) else { continue }
                let found = try connection.execute(
                    "SELECT DISTINCT ZENTITYPK FROM ACHANGE WHERE ZENTITY = $1 ORDER BY 1", [.integer(old.number)])
                let known = try connection.execute(
                    PostgreSQLDialect().text(of: KeyCommands.last), [.integer(root.number)])
                var last = known.rowCount == 1 ? known.integer(0, 0) : 0
                let keys = (0..<found.rowCount).map { found.integer($0, 0) }
                let replacements = try keys.map { key in
                    if let replacement = try newKey(old, key) { return replacement }
                    // A key that no object has.
                    last += 1
                    return last
                }
                try connection.execute(
                    "UPDATE ACHANGE SET ZENTITYPK = w.n FROM unnest($2, $3) AS w(o, n) WHERE ZENTITY = $1 AND ZENTITYPK = w.o",
                    [.integer(old.number), .array(PostgreSQLArray(keys)), .array(PostgreSQLArray(replacements))])
                try connection.execute(
                    PostgreSQLDialect().text(of: KeyCommands.raise), [.integer(last), .integer(root.number)])
            }
        }

        private var list: String { SQLRestriction.list(entities.map(\.old.number)) }
    }

    extension MigratedHistory {
        /// Copies the history to a store in another schema of the same database, in one transaction.
        func copy(from source: PostgreSQLStore, to destination: PostgreSQLStore) throws {
            let (before, content) = (try source.content(), try destination.content())
            guard let history = before.history, before.location.server == content.location.server else { return }
            let tables = PostgreSQLTables(location: content.location)
            do {
                try content.pool.withConnection { connection in
                    let own = try tables.history(content.schema, isWanted: true, in: connection)
                    try content.begin("BEGIN", in: connection)
                    for number in (own?.tombstoneCount ?? 0)..<max(own?.tombstoneCount ?? 0, history.tombstoneCount) {
                        try connection.execute(
                            script: PostgreSQLDialect().text(of: HistoryStatements.addTombstone(number)))
                    }
                    let from = before.location.quotedSchema
                    let present = try PostgreSQLTables(location: before.location).catalog(in: connection).columns
                    for name in ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"] {
                        let columns = (present[name] ?? []).joined(separator: ", ")
                        try connection.execute(
                            script: "INSERT INTO \(name) (\(columns)) SELECT \(columns) FROM \(from).\(name)")
                    }
                    try connection.execute(
                        script: "INSERT INTO Z_PRIMARYKEY SELECT * FROM \(from).Z_PRIMARYKEY "
                            + "WHERE Z_ENT >= \(KeyCommands.firstPrivateNumber) "
                            + "ON CONFLICT (Z_ENT) DO UPDATE SET Z_SUPER = excluded.Z_SUPER, Z_MAX = excluded.Z_MAX")
                    let catalog = try tables.catalog(in: connection)
                    try HistoryMigration(from: before.schema, to: content.schema, entities)
                        .rewrite(in: connection, catalog: catalog) {
                            newKey(before.model.orderedEntities[$0.entity.index], $1)
                        }
                    try connection.execute(script: "COMMIT")
                }
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: destination.url)
            }
        }
    }

    extension PostgreSQLHistoryWriter {
        /// Adds a transaction without changes.
        static func writeEmptyTransaction(author: String, in connection: PostgreSQLConnection) throws {
            func write(isConcurrent: Bool) throws -> Bool {
                try connection.execute(
                    """
                    WITH \(HistoryNumbering.number(isConcurrent: isConcurrent)) \
                    INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR, ZPROCESSID) \
                    SELECT n, \(HistoryTables.Number.transaction), $1::float8, $2::text, $3::text FROM number
                    """,
                    [
                        .real(Date().timeIntervalSinceReferenceDate), .text(author),
                        .text(ProcessInfo.processInfo.processName),
                    ]
                ).affectedCount > 0
            }
            if try write(isConcurrent: false) { return }
            try connection.execute(script: HistoryNumbering.raise + "; SAVEPOINT numbering")
            _ = try write(isConcurrent: true)
            try connection.execute(script: "RELEASE SAVEPOINT numbering")
        }
    }
#endif
