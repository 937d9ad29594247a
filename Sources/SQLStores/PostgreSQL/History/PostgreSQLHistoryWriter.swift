#if PostgreSQL
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

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

        /// Changes of rows that share everything but the key are one run: a save mostly has few of them.
        private struct Runs {
            var keys = PostgreSQLArray(of: .integer)
            /// The numbers of the first and the last key of each run.
            var first = PostgreSQLArray(of: .integer)
            var last = PostgreSQLArray(of: .integer)
            var types = PostgreSQLArray(of: .integer)
            var entities = PostgreSQLArray(of: .integer)
            var masks = PostgreSQLArray(of: .bytes)
            var tombstones: [PostgreSQLArray]

            mutating func append(
                _ type: NSPersistentHistoryChangeType, _ entity: Int64, _ rows: some Sequence<Int64>,
                mask: Data? = nil, tombstone: [ColumnValue] = []
            ) {
                first.append(Int64(keys.count + 1))
                for key in rows { keys.append(key) }
                last.append(Int64(keys.count))
                types.append(Int64(type.rawValue))
                entities.append(entity)
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
            private static func bytes(of value: ColumnValue) -> Data? {
                switch value {
                case .null: nil
                case .integer(let number): withUnsafeBytes(of: number.bigEndian) { Data($0) }
                case .real(let number): withUnsafeBytes(of: number.bitPattern.bigEndian) { Data($0) }
                case .text(let text): Data(text.utf8)
                case .blob(let data): data
                }
            }
        }

        /// Sends the statement that writes the transaction, unless nothing has changed. What is recorded later is not written.
        mutating func send(by pipeline: PostgreSQLPipeline) throws {
            isSent = true
            changes.combine()
            let runs = runs()
            guard runs.keys.count > 0 else { return }
            let texts = [author, Bundle.main.bundleIdentifier, contextName, ProcessInfo.processInfo.processName]
            let arrays = [runs.keys, runs.first, runs.last, runs.types, runs.entities, runs.masks] + runs.tombstones
            try pipeline.send(
                statement,
                [.real(Date().timeIntervalSinceReferenceDate)]
                    + texts.map { $0.map(PostgreSQLValue.text) ?? .null } + arrays.map(PostgreSQLValue.array))
            isWritten = true
        }

        private func runs() -> Runs {
            var runs = Runs(tombstones: (0..<tables.tombstoneCount).map { _ in PostgreSQLArray(of: .bytes) })
            for (entity, keys) in changes.insertions { runs.append(.insert, entity, keys) }
            for updates in changes.updated {
                var rest = updates.keys.rows[...]
                while let first = rest.first {
                    let same = rest.prefix { $0.mask == first.mask }
                    runs.append(.update, updates.entity, same.lazy.map(\.key), mask: changes.masks[Int(first.mask)])
                    rest = rest[same.endIndex...]
                }
            }
            for deletion in changes.deleted {
                runs.append(.delete, deletion.entity, CollectionOfOne(deletion.key), tombstone: deletion.tombstone)
            }
            return runs
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

        /// Parameters: the time, the texts of the transaction, the keys, and the arrays of the runs.
        private var statement: String {
            let tombstones = (0..<tables.tombstoneCount).map { "ZTOMBSTONE\($0)" }
            let names = ["first", "last", "t", "e", "m"] + tombstones.indices.map { "v\($0)" }
            let parameters = names.indices.map { "$\($0 + 7)" }.joined(separator: ", ")
            let columns =
                ["Z_PK", "ZENTITYPK", "Z_ENT", "ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZCOLUMNS"] + tombstones
            return """
                WITH number AS (UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = \(HistoryTables.Number.transaction) \
                RETURNING Z_MAX AS n), \
                change AS (UPDATE Z_PRIMARYKEY AS p SET Z_MAX = p.Z_MAX + cardinality($6) FROM number \
                WHERE p.Z_ENT = \(HistoryTables.Number.change) RETURNING p.Z_MAX - cardinality($6) AS n), \
                made AS (INSERT INTO ATRANSACTION \
                (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR, ZBUNDLEID, ZCONTEXTNAME, ZPROCESSID) \
                SELECT n, \(HistoryTables.Number.transaction), $1::float8, $2::text, $3::text, $4::text, $5::text FROM number) \
                INSERT INTO ACHANGE (\(columns.joined(separator: ", "))) \
                SELECT change.n + generate_series(run.first, run.last), unnest(($6)[run.first:run.last]), \
                \(HistoryTables.Number.change), number.n, \(names.dropFirst(2).map { "run.\($0)" }.joined(separator: ", ")) \
                FROM number, change, unnest(\(parameters)) AS run(\(names.joined(separator: ", ")))
                """
        }
    }
#endif
