#if PostgreSQL
    import Foundation
    import GRDB
    import PostgreSQLClient

    /// Appends the changes of a transaction to a store's history, with one statement after all others.
    ///
    /// The number of the transaction is taken from a row that stays locked until the commit, so that the order of the numbers
    /// is the order of the commits: a reader that has read a number never finds a lower one later.
    struct PostgreSQLHistoryWriter {
        private let tables: HistoryTables
        private let connection: PostgreSQLConnection
        private let author: String?
        private let contextName: String?
        /// The changed rows.
        var changes: HistoryRows
        /// Whether the statement was sent, and whether it writes a transaction.
        private var isSent = false
        private var isWritten = false

        init(
            _ tables: HistoryTables, content: PostgreSQLStore.Content, connection: PostgreSQLConnection,
            author: String?,
            contextName: String?
        ) {
            self.tables = tables
            self.connection = connection
            self.author = author
            self.contextName = contextName
            changes = HistoryRows(bitmaps: content.bitmaps, tombstoneCount: tables.tombstoneCount)
        }

        mutating func record(_ body: (inout HistoryRows) -> Void) { body(&changes) }

        private struct Rows {
            var types = PostgreSQLArray(of: .integer)
            var entities = PostgreSQLArray(of: .integer)
            var keys = PostgreSQLArray(of: .integer)
            var masks = PostgreSQLArray(of: .bytes)
            var tombstones: [PostgreSQLArray]

            mutating func append(
                _ type: NSPersistentHistoryChangeType, _ entity: Int64, _ key: Int64, mask: Data? = nil,
                tombstone: [DatabaseValue] = []
            ) {
                types.append(Int64(type.rawValue))
                entities.append(entity)
                keys.append(key)
                if let mask { mask.withUnsafeBytes { masks.append($0) } } else { masks.appendNull() }
                for index in tombstones.indices {
                    if let bytes = index < tombstone.count ? Self.bytes(of: tombstone[index]) : nil {
                        bytes.withUnsafeBytes { tombstones[index].append($0) }
                    } else {
                        tombstones[index].appendNull()
                    }
                }
            }

            /// A value as bytes: a column has values of all types.
            private static func bytes(of value: DatabaseValue) -> Data? {
                switch value.storage {
                case .null: nil
                case .int64(let number): withUnsafeBytes(of: number.bigEndian) { Data($0) }
                case .double(let number): withUnsafeBytes(of: number.bitPattern.bigEndian) { Data($0) }
                case .string(let text): Data(text.utf8)
                case .blob(let data): data
                }
            }
        }

        /// Sends the statement that writes the transaction, unless nothing has changed. What is recorded later is not written.
        mutating func send(by pipeline: PostgreSQLPipeline) throws {
            isSent = true
            changes.combine()
            var rows = Rows(tombstones: (0..<tables.tombstoneCount).map { _ in PostgreSQLArray(of: .bytes) })
            for (entity, keys) in changes.insertions { for key in keys { rows.append(.insert, entity, key) } }
            for updates in changes.updated {
                for row in updates.keys.rows {
                    rows.append(.update, updates.entity, row.key, mask: changes.masks[Int(row.mask)])
                }
            }
            for deletion in changes.deleted {
                rows.append(.delete, deletion.entity, deletion.key, tombstone: deletion.tombstone)
            }
            guard rows.keys.count > 0 else { return }
            let texts = [author, Bundle.main.bundleIdentifier, contextName, ProcessInfo.processInfo.processName]
            let arrays = [rows.types, rows.entities, rows.keys, rows.masks] + rows.tombstones
            try pipeline.send(
                statement,
                [.integer(Int64(rows.keys.count)), .real(Date().timeIntervalSinceReferenceDate)]
                    + texts.map { $0.map(PostgreSQLValue.text) ?? .null } + arrays.map(PostgreSQLValue.array))
            isWritten = true
        }

        /// Writes the transaction, unless its statement was sent.
        mutating func finish() throws {
            if !isSent {
                let outcome = try connection.pipelined { try send(by: $0) }
                if let failure = outcome.failure { throw failure }
            }
            if isWritten, let keeping = tables.keepingOldValues { try keepOldValues(keeping) }
        }

        /// Stores what triggers have recorded under the number of the transaction. The records are deleted by the commit.
        private func keepOldValues(_ statements: [String]) throws {
            let number = try connection.execute(
                PostgreSQLDialect().text(of: KeyCommands.last), [.integer(HistoryTables.Number.transaction)])
            let transaction = PostgreSQLValue.integer(number.integer(0, 0))
            let outcome = try connection.pipelined { pipeline in
                for statement in statements { try pipeline.send(statement, [transaction]) }
            }
            if let failure = outcome.failure { throw failure }
        }

        /// Parameters: the number of changes, the time, the texts of the transaction, and the arrays of the changes.
        private var statement: String {
            let tombstones = (0..<tables.tombstoneCount).map { "ZTOMBSTONE\($0)" }
            let names = ["t", "e", "k", "m"] + tombstones.indices.map { "v\($0)" }
            let parameters = names.indices.map { "$\($0 + 7)" }.joined(separator: ", ")
            let columns =
                ["Z_PK", "Z_ENT", "ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZCOLUMNS"] + tombstones
            return """
                WITH number AS (UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = \(HistoryTables.Number.transaction) \
                RETURNING Z_MAX AS n), \
                last AS (UPDATE Z_PRIMARYKEY AS p SET Z_MAX = p.Z_MAX + $1 FROM number \
                WHERE p.Z_ENT = \(HistoryTables.Number.change) RETURNING p.Z_MAX - $1 AS n), \
                made AS (INSERT INTO ATRANSACTION \
                (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR, ZBUNDLEID, ZCONTEXTNAME, ZPROCESSID) \
                SELECT n, \(HistoryTables.Number.transaction), $2::float8, $3::text, $4::text, $5::text, $6::text FROM number) \
                INSERT INTO ACHANGE (\(columns.joined(separator: ", "))) \
                SELECT last.n + w.i, \(HistoryTables.Number.change), number.n, \
                \(names.map { "w.\($0)" }.joined(separator: ", ")) FROM number, last, \
                unnest(\(parameters)) WITH ORDINALITY AS w(\(names.joined(separator: ", ")), i)
                """
        }
    }
#endif
