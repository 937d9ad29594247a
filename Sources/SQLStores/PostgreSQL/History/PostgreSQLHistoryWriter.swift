#if PostgreSQL
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// Appends the changes of a transaction to a store's history, with one statement after all others.
    ///
    /// A reader that has read the number of a transaction never finds a lower one later: see ``HistoryNumbering``.
    struct PostgreSQLHistoryWriter {
        private let tables: HistoryTables
        private let content: PostgreSQLStore.Content
        private let connection: PostgreSQLConnection
        private let author: String?
        private let contextName: String?
        /// The changed rows.
        var changes: HistoryRows
        /// Whether the statement fails if the store numbers otherwise, instead of writing nothing.
        var requiresNumber = false
        /// Whether the changes are complete.
        private var isSent = false
        /// The parameters of the statement; nil if there are no changes.
        private var parameters: [PostgreSQLValue]?
        private var changeCount = 0
        /// The numbers of the changes of a transaction that is numbered concurrently.
        private var numbers: ClosedRange<Int64>?
        /// The number of the transaction, if old values are kept and it is numbered concurrently.
        private var number: Int64?

        private static let bundleIdentifier = Bundle.main.bundleIdentifier

        init(
            _ tables: HistoryTables, content: PostgreSQLStore.Content, connection: PostgreSQLConnection,
            author: String?,
            contextName: String?
        ) {
            self.tables = tables
            self.content = content
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

        /// Reserves the numbers of changes, before statements are sent without waiting for their results.
        mutating func reserveNumbers(_ count: Int) throws {
            guard content.numbering.isConcurrent, count > 0, numbers.map({ $0.count < count }) ?? true else { return }
            numbers = try content.changeNumbers(Int64(count), in: connection)
        }

        /// Sends the statement that writes the transaction, unless nothing has changed. What is recorded later is not written.
        mutating func send(by pipeline: PostgreSQLPipeline) throws {
            complete()
            try send(isConcurrent: numbers.map { $0.count >= changeCount } ?? false, by: pipeline)
        }

        private mutating func complete() {
            guard !isSent else { return }
            isSent = true
            changes.combine()
            let runs = runs()
            changeCount = runs.keys.count
            guard changeCount > 0 else { return }
            let texts = [author, Self.bundleIdentifier, contextName, ProcessInfo.processInfo.processName]
            let arrays = [runs.keys, runs.first, runs.last, runs.types, runs.entities, runs.masks] + runs.tombstones
            parameters =
                [.real(Date().timeIntervalSinceReferenceDate)]
                + texts.map { $0.map(PostgreSQLValue.text) ?? .null } + arrays.map(PostgreSQLValue.array)
        }

        private func send(isConcurrent: Bool, by pipeline: PostgreSQLPipeline) throws {
            guard let parameters else { return }
            let statements = content.historyInsertions ?? HistoryInsertions(tables)
            guard isConcurrent, let numbers else {
                return try pipeline.send(
                    statements.inTurn + (requiresNumber ? HistoryInsertions.requirement : ""), parameters)
            }
            try pipeline.send("SAVEPOINT numbering")
            try pipeline.send(
                statements.concurrent + (requiresNumber ? HistoryInsertions.requirement : ""),
                parameters + [.integer(numbers.lowerBound)])
            try pipeline.send("RELEASE SAVEPOINT numbering")
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
        ///
        /// - Parameter results: The results of what was sent.
        mutating func finish(_ results: some Collection<PostgreSQLResult> = []) throws {
            complete()
            guard parameters != nil else { return }
            if results.isEmpty || !isWritten(results) { try write() }
            if let keeping = tables.keepingOldValues { try keepOldValues(keeping) }
        }

        /// Whether the statement has written the transaction: it writes nothing if the store numbers otherwise, or has been moved to
        /// another cluster.
        private mutating func isWritten(_ results: some Collection<PostgreSQLResult>) -> Bool {
            guard let result = results.dropFirst(results.count / 2).first else { return false }
            if result.rowCount > 0 { number = result.integer(0, 0) }
            return result.affectedCount > 0
        }

        private mutating func write() throws {
            if try !content.numbering.isConcurrent && write(isConcurrent: false) { return }
            content.numbering.isConcurrent = true
            if try write(isConcurrent: true) { return }
            try connection.execute(script: HistoryNumbering.raise)
            if try write(isConcurrent: true) { return }
            content.numbering.isConcurrent = false
            _ = try write(isConcurrent: false)
        }

        private mutating func write(isConcurrent: Bool) throws -> Bool {
            try reserveNumbers(changeCount)
            let outcome = try connection.pipelined { try send(isConcurrent: isConcurrent, by: $0) }
            if let failure = outcome.failure { throw failure }
            return isWritten(outcome.results)
        }

        /// Stores what triggers have recorded under the number of the transaction. The records are deleted by the commit.
        private func keepOldValues(_ statements: [String]) throws {
            let transaction = PostgreSQLValue.integer(
                try number
                    ?? connection.execute(
                        PostgreSQLDialect().text(of: KeyCommands.last), [.integer(HistoryTables.Number.transaction)]
                    ).integer(0, 0))
            let outcome = try connection.pipelined { pipeline in
                for statement in statements { try pipeline.send(statement, [transaction]) }
            }
            if let failure = outcome.failure { throw failure }
        }
    }

    /// The statements that append a transaction to a history, made once for its tables.
    struct HistoryInsertions: Sendable {
        let inTurn: String
        let concurrent: String

        /// The end of a statement that fails if there is no number.
        static let requirement =
            " WHERE 1 = (SELECT "
            + RowStatements.requirement("count(*) = 1", "count(*)", "The history is numbered otherwise.")
            + " FROM number)"

        init(_ tables: HistoryTables) {
            inTurn = Self.statement(tables, isConcurrent: false)
            concurrent = Self.statement(tables, isConcurrent: true)
        }

        /// Parameters: the time, the texts of the transaction, the keys, and the arrays of the runs; if it is numbered concurrently,
        /// the number of the first change.
        private static func statement(_ tables: HistoryTables, isConcurrent: Bool) -> String {
            let tombstones = (0..<tables.tombstoneCount).map { "ZTOMBSTONE\($0)" }
            let names = ["first", "last", "t", "e", "m"] + tombstones.indices.map { "v\($0)" }
            let parameters = names.indices.map { "$\($0 + 7)" }.joined(separator: ", ")
            let columns =
                ["Z_PK", "ZENTITYPK", "Z_ENT", "ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZCOLUMNS"] + tombstones
            let change =
                isConcurrent
                ? "change AS (SELECT $\(names.count + 7)::bigint - 1 AS n)"
                : "change AS (UPDATE Z_PRIMARYKEY AS p SET Z_MAX = p.Z_MAX + cardinality($6) FROM number "
                    + "WHERE p.Z_ENT = \(HistoryTables.Number.change) RETURNING p.Z_MAX - cardinality($6) AS n)"
            return """
                WITH \(HistoryNumbering.number(isConcurrent: isConcurrent)), \(change), \
                made AS (INSERT INTO ATRANSACTION \
                (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR, ZBUNDLEID, ZCONTEXTNAME, ZPROCESSID) \
                SELECT n, \(HistoryTables.Number.transaction), $1::float8, $2::text, $3::text, $4::text, $5::text FROM number) \
                INSERT INTO ACHANGE (\(columns.joined(separator: ", "))) \
                SELECT change.n + generate_series(run.first, run.last), unnest(($6)[run.first:run.last]), \
                \(HistoryTables.Number.change), number.n, \(names.dropFirst(2).map { "run.\($0)" }.joined(separator: ", ")) \
                FROM number, change, unnest(\(parameters)) AS run(\(names.joined(separator: ", ")))
                """ + (isConcurrent && tables.keepingOldValues != nil ? " RETURNING ZTRANSACTIONID" : "")
        }
    }
#endif
