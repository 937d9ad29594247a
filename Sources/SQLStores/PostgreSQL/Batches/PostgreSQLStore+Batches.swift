#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements
    import SQLiteConnections

    // Batch requests.

    extension PostgreSQLStore: SQLBatchStore {
        func writing<Result>(
            _ context: NSManagedObjectContext, isRepeatable: Bool, _ body: (PostgreSQLTransaction) throws -> Result
        ) throws -> Result {
            guard !isReadOnly else {
                throw CocoaError(.persistentStoreSave, "The store is opened for reading only.", url: place)
            }
            let content = try content()
            do {
                return try content.writing(isRepeatable: isRepeatable) { connection, _ in
                    let transaction = PostgreSQLTransaction(
                        content: content, connection: connection, store: number, author: context.transactionAuthor,
                        contextName: context.name)
                    let result = try body(transaction)
                    try transaction.finish()
                    return result
                }
            } catch {
                // Other processes may have used keys that this store has reserved.
                if (error as? PostgreSQLError)?.isUniqueViolation == true { content.keys.drop() }
                throw PostgreSQLFailure.translated(error, .saving, url: url)
            }
        }

        /// Cost: two statements for each thousand rows of an entity with constraints, otherwise one.
        func insert(
            _ rows: BatchRows, into place: SQLEntity, policy: NSMergePolicyType, in batch: PostgreSQLTransaction
        ) throws -> [ObjectKey] {
            try PostgreSQLBatchInserter(place, batch: batch, policy: policy).insert(rows) { [self] count in
                let content = try content()
                return try reserveKeys(of: content.schema.root(of: place) ?? place, count: count, content)
            }
        }
    }

    /// A transaction of a batch request.
    final class PostgreSQLTransaction: RowTransaction {
        let content: PostgreSQLStore.Content
        let connection: PostgreSQLConnection
        let store: UInt16
        private var history: PostgreSQLHistoryWriter?

        var database: PostgreSQLDatabase { PostgreSQLDatabase(connection: connection) }
        var schema: SQLSchema { content.schema }
        var compiler: SQLQueryCompiler { content.compiler }
        var externalData: ExternalData? { nil }

        var recordsHistory: Bool { history != nil }
        func record(_ changes: (inout HistoryRows) -> Void) { history?.record(changes) }
        /// A row that another transaction has changed is tested again when it is locked.
        func locking(_ query: SQLQuery) -> SQLQuery {
            SQLQuery(sql: query.sql + "\nFOR UPDATE OF t0", arguments: query.arguments)
        }
        func reading<Result>(_ body: () throws -> Result) throws -> Result {
            let lent = LentConnection(connection, of: content.pool, within: LentConnection.current.value)
            return try LentConnection.current.withValue(lent, body)
        }
        func take(files: [String]) {}
        func noteFiles(in columns: [SQLColumn], of entity: SQLEntity, keys: [Int64]) {}

        init(
            content: PostgreSQLStore.Content, connection: PostgreSQLConnection, store: UInt16, author: String?,
            contextName: String?
        ) {
            self.content = content
            self.connection = connection
            self.store = store
            history = content.history.map {
                PostgreSQLHistoryWriter(
                    $0, content: content, connection: connection, author: author, contextName: contextName)
            }
        }

        func finish() throws { try history?.finish() }
    }

    /// Inserts rows of an entity, a thousand with one statement.
    struct PostgreSQLBatchInserter {
        private let entity: SQLEntity
        private let batch: PostgreSQLTransaction
        private let policy: NSMergePolicyType
        private let now = Date().timeIntervalSinceReferenceDate
        private static let chunk = 1000

        init(_ entity: SQLEntity, batch: PostgreSQLTransaction, policy: NSMergePolicyType) throws {
            guard !entity.entity.isAbstract else {
                throw CocoaError(.coreData, "The entity “\(entity.entity.name)” is abstract and has no objects.")
            }
            self.entity = entity
            self.batch = batch
            self.policy = policy
        }

        /// - Parameter reserve: Reserves primary keys.
        func insert(_ rows: BatchRows, reserve: (Int) throws -> ClosedRange<Int64>) throws -> [ObjectKey] {
            let derivations = OwnDerivations(entity.entity)
            var keys: [ObjectKey] = []
            var chunk: [BatchRows.Row] = []
            var isEnd = false
            while !isEnd {
                if var row = try rows.next() {
                    _ = derivations.apply(to: &row.values, now: now)
                    chunk.append(row)
                } else {
                    isEnd = true
                }
                guard chunk.count == Self.chunk || isEnd && !chunk.isEmpty else { continue }
                try insert(Array(zip(try reserve(chunk.count), chunk)), keys: &keys)
                chunk = []
            }
            return keys
        }

        private func insert(_ rows: [(number: Int64, row: BatchRows.Row)], keys: inout [ObjectKey]) throws {
            let conflicts = try conflicts(of: rows)
            try insertAll(rows.filter { conflicts[$0.number] == nil })
            var changed: Set<ObjectKey> = []
            for (number, row) in rows {
                guard let taken = conflicts[number] else {
                    keys.append(
                        ObjectKey(
                            store: batch.store, entity: UInt16(truncatingIfNeeded: entity.entity.index), number: number)
                    )
                    continue
                }
                // A row that was not inserted holds no values after all, and a changed one holds others.
                if rows.count > 1,
                    taken.contains(where: { conflicts[$0.holder.number] != nil || changed.contains($0.holder) })
                {
                    let count = keys.count
                    try insert([(number, row)], keys: &keys)
                    changed.formUnion(keys[count...])
                } else if let key = try resolveConflict(row, taken[0]) {
                    keys.append(key)
                    changed.insert(key)
                }
            }
        }

        /// The unique values that other rows have, by the key of the new row.
        private func conflicts(of rows: [(number: Int64, row: BatchRows.Row)]) throws -> [Int64: [SaveConflicts.Taken]]
        {
            guard !UniqueValues.slots(of: entity).isEmpty else { return [:] }
            var plan = SavePlan()
            plan.inserts = [
                SavePlan.Group(
                    entity: batch.content.model.orderedEntities[entity.entity.index],
                    changes: ContiguousArray(rows.map { SavePlan.Insert(key: $0.number, values: $0.row.values) }))
            ]
            let finder = PostgreSQLConflictFinder(
                content: batch.content, store: batch.store, connection: batch.connection)
            return Dictionary(grouping: try finder.taken(by: plan), by: \.key)
        }

        private func insertAll(_ rows: [(number: Int64, row: BatchRows.Row)]) throws {
            guard !rows.isEmpty else { return }
            var columns = ColumnArrays(entity, slots: entity.storedSlots, schema: batch.schema, capacity: rows.count)
            for (number, row) in rows { try columns.append(row.values, key: number) }
            try batch.connection.execute(
                RowStatements(entity: entity).insertion(columns.names),
                [.array(PostgreSQLArray(rows.lazy.map(\.number)))] + columns.values)
            batch.record { $0.insert(entity, keys: rows.lazy.map(\.number)) }
        }

        private func resolveConflict(_ row: BatchRows.Row, _ taken: SaveConflicts.Taken) throws -> ObjectKey? {
            guard try policy.updatesExistingRow(of: entity.entity, with: taken.constraint) else { return nil }
            let held = try HeldRow(
                of: taken.holder, in: batch.schema, gets: row, of: entity, policy: policy, now: now)
            var columns = ColumnArrays(held.entity, slots: held.slots, schema: batch.schema, capacity: 1)
            try columns.append(held.values, key: held.key)
            try batch.connection.execute(
                RowStatements(entity: held.entity).update(columns.names, checksVersion: false),
                [.array(PostgreSQLArray([held.key])), .array(PostgreSQLArray([0]))] + columns.values)
            batch.record { $0.update(held.entity, key: held.key, slots: held.slots) }
            return taken.holder
        }
    }
#endif
