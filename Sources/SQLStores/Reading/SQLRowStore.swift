import Foundation
import ManagedObjects
import SQLStatements
import SQLiteConnections
import StoreSupport

/// A store whose rows are in the tables of an SQL database. Its queries are executed here: a store opens connections and
/// transactions, and writes.
protocol SQLRowStore: DatabaseStore {
    associatedtype Content: SQLContent
    associatedtype Database: SQLDatabase

    /// The content of the open store.
    ///
    /// - Throws: Code 134070 if the store has not been opened or has been closed.
    func content() throws -> Content

    /// Reads from the present state or from a pinned one.
    ///
    /// - Parameters:
    ///   - body: Called again if the connection to a server was lost, with the state of that time.
    /// - Throws: `CocoaError.userCancelled` if ``FetchInterruption`` ends a statement.
    func reading<Result>(
        _ generation: (any StoreGeneration)?, _ scope: ReadScope, _ body: (Database) throws -> Result
    ) throws -> Result

    /// Rejects rows of a pinned state that lack values.
    func requireFiles(of pages: [RowPage], _ generation: (any StoreGeneration)?) throws
}

/// What the queries of an open store need.
protocol SQLContent {
    var model: NSManagedObjectModel { get }
    var schema: SQLSchema { get }
    var compiler: SQLQueryCompiler { get }
    var plans: RowPlans { get }
    /// Nil if all values are in the rows.
    var externalData: ExternalData? { get }
}

extension SQLContent {
    func reader(of sqlEntity: SQLEntity, includesSubentities: Bool = true, store: UInt16) -> RowReader {
        RowReader(
            plans.plan(for: sqlEntity, includesSubentities: includesSubentities), schema: schema, store: store,
            externalData: externalData)
    }
}

extension SQLRowStore {
    func requireFiles(of pages: [RowPage], _ generation: (any StoreGeneration)?) throws {}
}

/// A connection to a database while it is used by one task: it executes statements that read.
protocol SQLDatabase {
    associatedtype Cursor: SQLCursor

    /// Begins to read the rows of a query.
    func cursor(_ query: SQLQuery) throws -> Cursor

    /// Reads the rows with primary keys into the pages of a reader.
    func readRows(withKeys keys: [Int64], by reader: RowReader) throws

    /// Reads the rows that a list of keys selects, in as many statements as the database needs for the list.
    ///
    /// - Parameters:
    ///   - selection: The selection for a condition that the keys of a statement are in a column.
    ///   - body: Called for each statement.
    func forEachCursor(
        of keys: [Int64], selecting selection: (SQLKeyCondition) -> SQLSelect, _ body: (Cursor) throws -> Void
    ) throws
}

/// A connection that also executes statements that write.
protocol SQLWritingDatabase: SQLDatabase {
    /// Executes a statement, and returns the number of changed rows.
    func run(_ query: SQLQuery) throws -> Int
}

/// The condition that a column has one of the keys of a list that the database binds.
struct SQLKeyCondition {
    /// The condition for a column. The parameters of the list are the statement's first ones.
    let first: (_ column: String) -> SQLRestriction
    /// The condition for a further column of the same statement, with the same parameters.
    let again: (_ column: String) -> SQLRestriction
}

// Queries: the compiler divides a query, the store executes the statement, and the remaining part is evaluated in
// memory.

extension SQLRowStore {
    package func rows(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> RowResult {
        let content = try content()
        guard let reader = reader(for: query, content) else { return RowResult() }
        switch try content.compiler.compileRows(query, selecting: .all(reader.plan), store: number) {
        case .statement(let statement): return try rows(of: statement, reader, generation)
        case .divided(let division): return try rows(of: division, content: content, generation: generation)
        }
    }

    package func keys(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> [ObjectKey] {
        let content = try content()
        let statement: SQLQuery
        switch try content.compiler.compileRows(query, selecting: .keysAndEntities, store: number) {
        case .statement(let whole): statement = whole
        case .divided(let division): return try rows(of: division, content: content, generation: generation).keys
        }
        return try reading(generation, .statements) { database in
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

    package func count(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> Int {
        let content = try content()
        let statement: SQLQuery
        switch try content.compiler.compileCount(query, store: number) {
        case .statement(let whole): statement = whole
        case .divided(let division):
            return try rows(of: division, content: content, generation: generation).order.count
        }
        return try reading(generation, .statements) { database in
            let row = try database.cursor(statement)
            defer { row.finish() }
            return try row.step() ? Int(row.integer(0)) : 0
        }
    }

    package func dictionaries(matching query: ValueQuery, generation: (any StoreGeneration)?) throws -> [NSDictionary] {
        let content = try content()
        let statement: SQLValueStatement
        do {
            statement = try content.compiler.values(query, store: number)
        } catch is PredicateRefusal {
            return try dictionariesInMemory(matching: query, content: content, generation: generation)
        }
        return try reading(generation, .statements) { database in
            let row = try database.cursor(statement.query)
            defer { row.finish() }
            var results = RowDictionaries(of: query)
            while try row.step() {
                statement.read(row, schema: content.schema, into: &results) { entity, key in
                    self.objectID(ofKey: key, entity: content.model.orderedEntities[entity])
                }
            }
            return results.dictionaries
        }
    }

    // MARK: - Steps

    private func reader(for query: RowQuery, _ content: Content) -> RowReader? {
        content.schema.entity(at: query.entityIndex).map {
            content.reader(of: $0, includesSubentities: query.includesSubentities, store: number)
        }
    }

    private func rows(
        of statement: SQLQuery, _ reader: RowReader, _ generation: (any StoreGeneration)?
    ) throws -> RowResult {
        let result = try reading(generation, .statements) { database in
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

    private func dictionariesInMemory(
        matching query: ValueQuery, content: Content, generation: (any StoreGeneration)?
    ) throws -> [NSDictionary] {
        var rows = query.query
        rows.sortDescriptors = []
        rows.offset = 0
        rows.limit = 0
        let division = try content.compiler.divide(rows, store: number)
        return try withGeneration(generation) { generation in
            let result = try storedRows(matching: division.stored, content: content, generation: generation)
            guard let graph = rowGraph(generation) else { return [] }
            return try ValueSelection(query).dictionaries(of: graph.subjects(of: result))
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

// Reads rows by their keys, and the members of relationships.

extension SQLRowStore {
    package func rows(
        withKeys keys: [Int64], entity: NSEntityDescription, generation: (any StoreGeneration)?
    ) throws -> [RowPage] {
        let content = try content()
        guard let sqlEntity = content.schema.entity(entity), !keys.isEmpty else { return [] }
        let reader = content.reader(of: sqlEntity, store: number)
        try reading(generation, scope(forKeys: keys.count)) { database in
            try database.readRows(withKeys: keys, by: reader)
        }
        try requireFiles(of: reader.pages, generation)
        return reader.pages
    }

    /// Many keys need several statements.
    private func scope(forKeys count: Int) throws -> ReadScope {
        try content().compiler.dialect.keyCounts.last.map { count > $0 } ?? false ? .state : .statements
    }

    // MARK: - Members

    package func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, isKnown: (ObjectKey) -> Bool, generation: (any StoreGeneration)?
    ) throws -> MemberResult {
        let content = try content()
        guard let toMany = ownerEntity.layout.toMany.first(where: { $0.relationship === relationship }),
            let destination = content.schema.entity(toMany.destination), toMany.isPersistent, !owners.isEmpty
        else {
            var empty = MemberResult()
            empty.starts = ContiguousArray(repeating: 0, count: owners.count + 1)
            return empty
        }
        let query = MemberQuery(
            store: number, content: content, destination: destination, owners: owners, includesRows: includesRows)
        let scope = try includesRows ? .state : scope(forKeys: owners.count)
        let result = try reading(generation, scope) { database in
            switch toMany.storage {
            case .memberSlot(let slot, let position):
                return try query.membersByReference(slot: slot, position: position, in: database)
            case .pairs:
                guard let pairs = content.schema.pairs(of: relationship) else { return query.emptyResult }
                return try query.membersByPairs(pairs, isKnown: isKnown, in: database)
            }
        }
        try requireFiles(of: result.pages, generation)
        return result
    }
}
