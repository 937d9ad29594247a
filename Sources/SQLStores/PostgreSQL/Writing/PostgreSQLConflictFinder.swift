#if PostgreSQL
    import ManagedObjects
    import PostgreSQLClient

    /// Finds the stored rows with which a plan conflicts, after a statement has not written a row.
    struct PostgreSQLConflictFinder {
        private let content: PostgreSQLStore.Content
        private let store: UInt16
        private let connection: PostgreSQLConnection
        private(set) var conflicts = SaveConflicts()

        init(content: PostgreSQLStore.Content, store: UInt16, connection: PostgreSQLConnection) {
            self.content = content
            self.store = store
            self.connection = connection
        }

        /// Adds rows that another transaction has changed or deleted, with their present values.
        ///
        /// - Parameter rows: The keys, with the versions that were expected.
        mutating func addStale(_ entity: SQLEntity, _ rows: [(key: Int64, version: Int64)]) throws {
            let reader = content.reader(of: entity, store: store)
            try PostgreSQLDatabase(connection: connection).readRows(withKeys: rows.map(\.key), by: reader)
            var current: [Int64: (page: RowPage, row: Int)] = [:]
            for page in reader.pages {
                for row in 0..<page.count { current[page.primaryKey(ofRow: row)] = (page, row) }
            }
            for (key, version) in rows {
                var stale = SaveConflicts.Stale(entity: entity.entity.index, key: key, expectedVersion: version)
                stale.current = current[key]
                conflicts.stale.append(stale)
            }
        }

        /// Adds the conflicts of a plan of which a statement has failed because a row has unique values of another one, or its
        /// key. Call it in a new transaction.
        mutating func addTaken(_ plan: SavePlan) throws {
            for group in plan.inserts {
                let entity = try content.schema.requireEntity(group.entity)
                let keys = group.changes.map(\.key)
                let result = try connection.execute(
                    "SELECT Z_PK FROM \(entity.table) WHERE Z_PK = ANY($1)", [.array(PostgreSQLArray(keys))])
                let present = (0..<result.rowCount).map { (key: result.integer($0, 0), version: Int64(0)) }
                // A deleted row that is inserted again may have been inserted again by another context too.
                if !present.isEmpty { try addStale(entity, present) }
            }
            conflicts.taken += try taken(by: plan)
        }

        /// The rows of a plan whose unique values other rows have.
        ///
        /// Cost: one statement for each entity and constraint.
        func taken(by plan: SavePlan) throws -> [SaveConflicts.Taken] {
            try UniqueValues(plan, schema: content.schema, store: store).conflicts(holders)
        }

        private func holders(
            _ entity: SQLEntity, _ constraint: UniqueValues.Constraint, _ rows: [UniqueValues.Row],
            _ leaving: Set<Int64>
        ) throws -> [Int: ObjectKey] {
            var columns = ColumnArrays(
                entity, slots: constraint.slots, schema: content.schema, capacity: rows.count)
            for row in rows { try columns.append(row.values, key: row.key) }
            let names = constraint.slots.compactMap { entity.columns[$0]?.name }
            let values = zip(columns.names, columns.values).filter { names.contains($0.0) }.map(\.1)
            let keys = [leaving.sorted(), rows.map(\.key)].map { PostgreSQLValue.array(PostgreSQLArray($0)) }
            let result = try connection.execute(RowStatements(entity: entity).holders(names), keys + values)
            var found: [Int: ObjectKey] = [:]
            for row in 0..<result.rowCount {
                guard let index = content.schema.entityIndex(number: result.integer(row, 2)) else { continue }
                found[Int(result.integer(row, 0)) - 1] = ObjectKey(
                    store: store, entity: UInt16(truncatingIfNeeded: index), number: result.integer(row, 1))
            }
            return found
        }

        /// Locks the rows that a plan changes or deletes until the transaction ends, and adds the conflicts of the plan with the
        /// stored rows.
        mutating func addAll(_ plan: SavePlan) throws {
            for (entity, rows) in plan.expectedRows where !rows.isEmpty {
                let entity = try content.schema.requireEntity(entity)
                let result = try connection.execute(
                    RowStatements(entity: entity).locking, [.array(PostgreSQLArray(rows.map(\.key)))])
                var versions: [Int64: Int64] = [:]
                for row in 0..<result.rowCount { versions[result.integer(row, 0)] = result.integer(row, 1) }
                let stale = rows.filter { row in
                    versions[row.key].map { row.version != nil && row.version != $0 } ?? true
                }
                if !stale.isEmpty { try addStale(entity, stale.map { ($0.key, $0.version ?? 0) }) }
            }
            try addTaken(plan)
        }
    }
#endif
