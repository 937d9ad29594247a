import GRDB

// Queries: the compiler divides a query, the store executes the statement, and the remaining part is evaluated in
// memory.

extension SQLiteStore {
    func rows(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> RowResult {
        let content = try content()
        do {
            return try storedRows(matching: query, content: content, generation: generation)
        } catch is PredicateRefusal {
            return try dividedRows(matching: query, content: content, generation: generation)
        }
    }

    func keys(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> [ObjectKey] {
        let content = try content()
        let statement: SQLQuery
        do {
            statement = try content.compiler.rows(query, selecting: "t0.Z_PK, t0.Z_ENT", store: number)
        } catch is PredicateRefusal {
            return try dividedRows(matching: query, content: content, generation: generation).keys
        }
        return try reading(generation, consistently: false) { database in
            let row = try SQLStatement(statement, in: database)
            defer { row.finish() }
            var keys: [ObjectKey] = []
            while try row.step() {
                guard let entity = content.schema.entityIndex(number: row.integer(1)) else { continue }
                keys.append(
                    ObjectKey(store: number, entity: UInt16(truncatingIfNeeded: entity), number: row.integer(0)))
            }
            return keys
        }
    }

    func count(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> Int {
        let content = try content()
        let statement: SQLQuery
        do {
            statement = try content.compiler.count(query, store: number)
        } catch is PredicateRefusal {
            var query = query
            query.sortDescriptors = []
            return try dividedRows(matching: query, content: content, generation: generation).order.count
        }
        return try reading(generation, consistently: false) { database in
            let row = try SQLStatement(statement, in: database)
            defer { row.finish() }
            return try row.step() ? Int(row.integer(0)) : 0
        }
    }

    func values(matching query: ValueQuery, generation: (any StoreGeneration)?) throws -> [[Any?]] {
        let content = try content()
        let statement: SQLValueStatement
        do {
            statement = try content.compiler.values(query, store: number)
        } catch is PredicateRefusal {
            return try valuesInMemory(matching: query, content: content, generation: generation)
        }
        return try reading(generation, consistently: false) { database in
            let row = try SQLStatement(statement.query, in: database)
            defer { row.finish() }
            var values: [[Any?]] = []
            while try row.step() {
                values.append(
                    statement.values(of: row, schema: content.schema) { entity, key in
                        self.objectID(ofKey: key, entity: entity)
                    })
            }
            return values
        }
    }

    // MARK: - Steps

    private func storedRows(
        matching query: RowQuery, content: Content, generation: (any StoreGeneration)?
    ) throws -> RowResult {
        guard let place = content.schema.entity(query.entity) else { return RowResult() }
        let reader = content.reader(of: place, includesSubentities: query.includesSubentities, store: number)
        let statement = try content.compiler.rows(query, selecting: reader.plan.qualifiedList, store: number)
        let result = try reading(generation, consistently: false) { database in
            let statement = try SQLStatement(statement, in: database)
            defer { statement.finish() }
            var result = RowResult()
            try reader.readAll(statement, order: &result.order)
            result.pages = reader.pages
            return result
        }
        try requireFiles(of: result.pages, generation)
        return result
    }

    private func valuesInMemory(
        matching query: ValueQuery, content: Content, generation: (any StoreGeneration)?
    ) throws -> [[Any?]] {
        var rows = query.query
        rows.sortDescriptors = []
        rows.offset = 0
        rows.limit = 0
        let division = try content.compiler.divide(rows, store: number)
        return try withGeneration(generation) { generation in
            let result = try storedRows(matching: division.stored, content: content, generation: generation)
            guard let graph = rowGraph(generation) else { return [] }
            return try ValueSelection(query).values(of: graph.subjects(of: result))
        }
    }

    /// The rows of the stored part, then the evaluation of the remaining part, both from one state of the store.
    private func dividedRows(
        matching query: RowQuery, content: Content, generation: (any StoreGeneration)?
    ) throws -> RowResult {
        let division = try content.compiler.divide(query, store: number)
        return try withGeneration(generation) { generation in
            let result = try storedRows(matching: division.stored, content: content, generation: generation)
            guard let remainder = division.remainder, let graph = rowGraph(generation) else { return result }
            return try RowSelection(remainder).select(from: result, graph: graph)
        }
    }

    private func rowGraph(_ generation: (any StoreGeneration)?) -> StoreRowGraph? {
        persistentStoreCoordinator.map { StoreRowGraph(store: self, coordinator: $0, generation: generation) }
    }

    private func objectID(ofKey key: Int64, entity: NSEntityDescription) -> NSManagedObjectID {
        let key = ObjectKey(store: number, entity: UInt16(truncatingIfNeeded: entity.index), number: key)
        return persistentStoreCoordinator?.objectID(for: key)
            ?? NSManagedObjectID(key: key, entity: entity, storeIdentifier: nil, coordinator: nil)
    }
}

extension RowResult {
    /// The keys of the rows, in order.
    fileprivate var keys: [ObjectKey] {
        order.map { pages[Int($0.page)].key(ofRow: Int($0.row)) }
    }
}
