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

    /// Records files that were created, so that they are removed if the transaction fails.
    func take(files: [String])
    /// Records the files to which columns of rows refer, before the values are overwritten or deleted.
    func noteFiles(in columns: [SQLColumn], of entity: SQLEntity, keys: [Int64]) throws
}

extension RowTransaction {
    var dialect: any SQLDialect { compiler.dialect }

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

/// The rows that a batch update or deletion changes.
enum BatchSelection {
    /// A query that SQL executes.
    case query(RowQuery)
    case keys([Int64])

    /// Evaluates the part of a query that SQL cannot execute.
    init(_ query: RowQuery, store: some SQLRowStore) throws {
        do {
            _ = try store.content().compiler.rows(query, selecting: .keysAndEntities, store: store.number)
            self = .query(query)
        } catch is PredicateRefusal {
            self = .keys(try store.keys(matching: query, generation: nil).map(\.number))
        }
    }

    func keys(of entity: SQLEntity, in batch: some RowTransaction) throws -> [ObjectKey] {
        switch self {
        case .query(let query):
            return try batch.keys(
                batch.compiler.rows(query, selecting: .keysAndEntities, store: batch.store))
        case .keys(let keys):
            return try batch.keys(batch.query(entity.keys(where: .keys), list: keys))
        }
    }
}
