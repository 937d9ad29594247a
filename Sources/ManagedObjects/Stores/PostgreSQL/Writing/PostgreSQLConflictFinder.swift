#if PostgreSQL
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
                var stale = SaveConflicts.Stale(entity: entity.entity, key: key, expectedVersion: version)
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
            conflicts.taken += try UniqueValues(plan, schema: content.schema, store: store).conflicts(in: connection)
        }
    }
#endif
