import SQLStores

// Queries: the compiler divides a query, the store executes the statement, and the remaining part is evaluated in
// memory.

extension SQLRowStore {
    func rows(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> RowResult {
        let content = try content()
        guard let reader = reader(for: query, content) else { return RowResult() }
        switch try content.compiler.compileRows(query, selecting: .all(reader.plan), store: number) {
        case .statement(let statement): return try rows(of: statement, reader, generation)
        case .divided(let division): return try rows(of: division, content: content, generation: generation)
        }
    }

    func keys(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> [ObjectKey] {
        let content = try content()
        let statement: SQLQuery
        switch try content.compiler.compileRows(query, selecting: .keysAndEntities, store: number) {
        case .statement(let whole): statement = whole
        case .divided(let division): return try rows(of: division, content: content, generation: generation).keys
        }
        return try reading(generation, consistently: false) { database in
            let row = try database.cursor(statement)
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
        switch try content.compiler.compileCount(query, store: number) {
        case .statement(let whole): statement = whole
        case .divided(let division):
            return try rows(of: division, content: content, generation: generation).order.count
        }
        return try reading(generation, consistently: false) { database in
            let row = try database.cursor(statement)
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
            let row = try database.cursor(statement.query)
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

    private func reader(for query: RowQuery, _ content: Content) -> RowReader? {
        content.schema.entity(query.entity).map {
            content.reader(of: $0, includesSubentities: query.includesSubentities, store: number)
        }
    }

    private func rows(
        of statement: SQLQuery, _ reader: RowReader, _ generation: (any StoreGeneration)?
    ) throws -> RowResult {
        let result = try reading(generation, consistently: false) { database in
            // The block is called again after a lost connection.
            reader.restart()
            let statement = try database.cursor(statement)
            defer { statement.finish() }
            var result = RowResult()
            try reader.readAll(statement, order: &result.order)
            result.pages = reader.pages
            return result
        }
        try requireFiles(of: result.pages, generation)
        return result
    }

    private func storedRows(
        matching query: RowQuery, content: Content, generation: (any StoreGeneration)?
    ) throws -> RowResult {
        guard let reader = reader(for: query, content) else { return RowResult() }
        let statement = try content.compiler.rows(query, selecting: .all(reader.plan), store: number)
        return try rows(of: statement, reader, generation)
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
    private func rows(
        of division: QueryDivision, content: Content, generation: (any StoreGeneration)?
    ) throws -> RowResult {
        try withGeneration(generation) { generation in
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
            ?? NSManagedObjectID(key: key, entity: entity, storeIdentifier: nil)
    }
}

extension RowResult {
    /// The keys of the rows, in order.
    fileprivate var keys: [ObjectKey] {
        order.map { pages[Int($0.page)].key(ofRow: Int($0.row)) }
    }
}
