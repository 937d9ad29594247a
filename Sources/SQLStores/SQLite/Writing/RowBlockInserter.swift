import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// Inserts rows with the same columns, several with one statement: starting and ending a statement costs SQLite as much
/// as writing a row.
struct RowBlockInserter {
    /// The maximum size of a statement. More rows do not improve speed, and a long statement is expensive to prepare.
    private static let rowLimit = 16
    private static let parameterLimit = 240

    private let shared: [ColumnValue]
    private let width: Int
    private let rowCount: Int
    private let block: SQLStatement?
    private let single: SQLStatement

    /// - Parameters:
    ///   - insertion: The insertion of one row.
    ///   - shared: The values of the first parameters, which all rows share: `?1`, `?2`, …
    ///   - width: The number of a row's own parameters.
    ///   - count: The total number of rows to insert.
    init(
        _ insertion: SQLInsert, shared: [ColumnValue] = [], width: Int, count: Int, in database: Database
    ) throws {
        self.shared = shared
        self.width = width
        rowCount = min(Self.rowLimit, Self.parameterLimit / max(width, 1))
        block =
            rowCount > 1 && count >= rowCount ? try SQLStatement(insertion.repeated(rowCount), in: database) : nil
        single = try SQLStatement(insertion, in: database)
    }

    /// Inserts rows: one statement for each block, and one for each remaining row.
    ///
    /// - Parameters:
    ///   - bind: Binds the values of the row with an index to the parameters from an index on.
    ///   - refused: Called with the index of each row whose key or unique values another row already has. May rethrow
    ///     the error.
    func insert(
        _ count: Int, bind: (Int, SQLStatement, Int) throws -> Void,
        refused: (Int, DatabaseError) throws -> Void = { throw $1 }
    ) throws {
        for statement in [block, single].compactMap(\.self) {
            for (index, value) in shared.enumerated() { statement.bind(value, at: 1 + index) }
        }
        defer { finish() }
        let first = 1 + shared.count
        var index = 0
        while index < count {
            if let block, count - index >= rowCount {
                for row in 0..<rowCount { try bind(index + row, block, first + row * width) }
                if try run(block, refused: { _ in }) {
                    index += rowCount
                    continue
                }
                // SQLite has rolled back the statement. Its rows are inserted one by one, and the conflicting one fails
                // again.
                let end = index + rowCount
                while index < end { try insertOne(&index, bind: bind, refused: refused) }
            } else {
                try insertOne(&index, bind: bind, refused: refused)
            }
        }
    }

    private func insertOne(
        _ index: inout Int, bind: (Int, SQLStatement, Int) throws -> Void,
        refused: (Int, DatabaseError) throws -> Void
    ) throws {
        try bind(index, single, 1 + shared.count)
        _ = try run(single) { try refused(index, $0) }
        index += 1
    }

    /// Returns false if another row has the key or unique values of the row.
    private func run(_ statement: SQLStatement, refused: (DatabaseError) throws -> Void) throws -> Bool {
        do {
            try statement.run()
            return true
        } catch let error as DatabaseError
            where [.SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY].contains(error.extendedResultCode)
        {
            try refused(error)
            return false
        }
    }

    private func finish() {
        block?.finish()
        single.finish()
    }
}
