import ManagedObjects
import SQLStatements
import SQLiteConnections

/// A transaction in which a batch request changes rows, with its history and the files that it creates or makes
/// obsolete.
protocol RowTransaction: AnyObject {
    associatedtype Database: SQLWritingDatabase

    var database: Database { get }
    var schema: SQLSchema { get }
    var compiler: SQLQueryCompiler { get }
    /// The store's number in its coordinator.
    var store: UInt16 { get }
    /// Nil if all values are in the rows.
    var externalData: ExternalData? { get }

    /// Whether the changes are recorded in the store's history.
    var recordsHistory: Bool { get }
    /// Records changes of rows in the history, if there is one.
    func record(_ changes: (inout HistoryRows) -> Void)

    /// A statement over `t0` that also locks the rows that it finds until the transaction ends.
    func locking(_ query: SQLQuery) -> SQLQuery
    /// Runs work that reads the store in the state of the transaction.
    func reading<Result>(_ body: () throws -> Result) throws -> Result

    /// Records files that were created, so that they are removed if the transaction fails.
    func take(files: [String])
    /// Records the files to which columns of rows refer, before the values are overwritten or deleted.
    func noteFiles(in columns: [SQLColumn], of entity: SQLEntity, keys: [Int64]) throws
}

extension RowTransaction {
    var dialect: any SQLDialect { compiler.dialect }

    // In SQLite one transaction writes at a time, and what it reads within is read by its connection.

    func locking(_ query: SQLQuery) -> SQLQuery { query }
    func reading<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    /// The rows that a query selects by `Z_PK` and `Z_ENT`.
    func keys(_ query: SQLQuery) throws -> [ObjectKey] {
        let cursor = try database.cursor(query)
        defer { cursor.finish() }
        var keys: [ObjectKey] = []
        while try cursor.step() {
            guard let entity = schema.entityIndex(number: cursor.integer(1)) else { continue }
            keys.append(
                ObjectKey(store: store, entity: UInt16(truncatingIfNeeded: entity), number: cursor.integer(0)))
        }
        return keys
    }

    /// Executes a statement, and returns the number of changed rows.
    @discardableResult
    func run(_ query: SQLQuery) throws -> Int { try database.run(query) }

    /// A statement whose only parameter is a list of keys.
    func query(_ command: some SQLCommand, list keys: some Sequence<Int64>) -> SQLQuery {
        SQLQuery(command, [.text(dialect.value(of: keys))], in: dialect)
    }
}

/// The rows that a batch update or deletion changes. They are determined in the transaction that changes them, so that a row that
/// another transaction has changed before is changed only if it still matches.
enum BatchSelection {
    /// The store evaluates the part of the query that SQL cannot express.
    case query(RowQuery, any RowStore)
    case keys([Int64])

    /// The statement that selects `Z_PK`; nil if there is none.
    func statement(in batch: some RowTransaction) throws -> SQLQuery? {
        guard case .query(let query, _) = self,
            case .statement(let statement) = try batch.compiler.compileRows(
                query, selecting: .keys, store: batch.store)
        else { return nil }
        return statement
    }

    func keys(of entity: SQLEntity, in batch: some RowTransaction) throws -> [ObjectKey] {
        switch self {
        case .query(let query, let store):
            let columns = SelectedColumns.keysAndEntities
            switch try batch.compiler.compileRows(query, selecting: columns, store: batch.store) {
            case .statement(let statement): return try batch.keys(batch.locking(statement))
            case .divided(let division):
                let stored = try batch.compiler.rows(division.stored, selecting: columns, store: batch.store)
                let candidates = Set(try batch.keys(batch.locking(stored)))
                return try batch.reading { try store.keys(matching: query, generation: nil) }
                    .filter(candidates.contains)
            }
        case .keys(let keys):
            return try batch.keys(batch.query(entity.keys(where: .keys), list: keys))
        }
    }
}
