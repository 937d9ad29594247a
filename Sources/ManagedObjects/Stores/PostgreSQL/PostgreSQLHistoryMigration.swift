#if PostgreSQL
    import Foundation
    import PostgreSQLClient

    extension HistoryMigration {
        /// Rewrites the history of a store in PostgreSQL; does nothing if there is none. Call it in the transaction that migrates
        /// the rows.
        ///
        /// Cost: some statements, and two for each entity whose properties have changed.
        func rewrite(in connection: PostgreSQLConnection, catalog: SQLCatalog) throws {
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
            if let renumbering = renumbering("ZENTITY") {
                try connection.execute(script: "UPDATE ACHANGE SET ZENTITY = \(renumbering)")
            }
        }

        private var list: String { SQLRestriction.list(entities.map(\.old.number)) }
    }

    extension PostgreSQLHistoryWriter {
        /// Adds a transaction without changes.
        static func writeEmptyTransaction(author: String, in connection: PostgreSQLConnection) throws {
            try connection.execute(
                """
                WITH number AS (UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = \(HistoryTables.Number.transaction) \
                RETURNING Z_MAX AS n) \
                INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR, ZPROCESSID) \
                SELECT n, \(HistoryTables.Number.transaction), $1::float8, $2::text, $3::text FROM number
                """,
                [
                    .real(Date().timeIntervalSinceReferenceDate), .text(author),
                    .text(ProcessInfo.processInfo.processName),
                ])
        }
    }
#endif
