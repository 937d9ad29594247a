import GRDB

/// Inserts rows of one shape, a block of them by one statement: to begin and to end a statement costs SQLite as much as
/// to write a row does.
struct BlockInsertion {
    /// What a statement holds at most. More rows gain nothing, and a long statement is dear to prepare.
    private static let rowLimit = 16
    private static let parameterLimit = 240

    private let width: Int
    private let rowCount: Int
    private let block: SQLStatement?
    private let single: SQLStatement

    /// - Parameters:
    ///   - head: The statement as far as `VALUES`.
    ///   - values: The values of a row, in parentheses.
    ///   - tail: What follows the values.
    ///   - width: The number of parameters of a row.
    ///   - count: The number of rows that there are to insert.
    init(
        _ head: String, values: String, tail: String = "", width: Int, count: Int, in database: Database
    ) throws {
        self.width = width
        rowCount = min(Self.rowLimit, Self.parameterLimit / max(width, 1))
        func statement(_ rows: Int) throws -> SQLStatement {
            let list = repeatElement(values, count: rows).joined(separator: ", ")
            return try SQLStatement("\(head) VALUES \(list)\(tail)", in: database)
        }
        block = rowCount > 1 && count >= rowCount ? try statement(rowCount) : nil
        single = try statement(1)
    }

    /// Inserts rows: a statement for each block, and one for each row that is left.
    ///
    /// - Parameters:
    ///   - bind: Binds the values of the row of an index to the parameters from a position on.
    ///   - refused: Called with the index of each row whose key or unique values another row has. May throw the error.
    func insert(
        _ count: Int, bind: (Int, SQLStatement, Int) throws -> Void,
        refused: (Int, DatabaseError) throws -> Void = { throw $1 }
    ) throws {
        defer { finish() }
        var index = 0
        while index < count {
            if let block, count - index >= rowCount {
                for row in 0..<rowCount { try bind(index + row, block, 1 + row * width) }
                if try run(block, refused: { _ in }) {
                    index += rowCount
                    continue
                }
                // SQLite has taken the block back. Its rows come one by one, and one of them is refused again.
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
        try bind(index, single, 1)
        _ = try run(single) { try refused(index, $0) }
        index += 1
    }

    /// False where another row has the key or unique values of a row.
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
