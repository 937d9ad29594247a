import GRDB
import GRDBSQLite

/// Ends the statements of a connection when a condition becomes true.
struct Interruption {
    private let condition: Condition

    private final class Condition {
        let isTrue: () -> Bool

        init(_ isTrue: @escaping () -> Bool) { self.isTrue = isTrue }
    }

    init(_ isTrue: @escaping () -> Bool) { condition = Condition(isTrue) }

    /// The number of steps of SQLite's virtual machine between two tests: about a millisecond.
    private static let stride: Int32 = 100_000

    /// Whether the condition is true.
    var isRequested: Bool { condition.isTrue() }

    /// - Throws: `SQLITE_INTERRUPT` if the condition is true.
    func check() throws {
        if isRequested { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
    }

    /// - Throws: The closure's error; `SQLITE_INTERRUPT` if the condition is true.
    func run<Result>(on database: Database, _ body: () throws -> Result) throws -> Result {
        // SQLite uses the pointer only until the handler is removed, which happens before this returns.
        try withExtendedLifetime(condition) {
            sqlite3_progress_handler(
                database.sqliteConnection, Self.stride,
                { context in
                    guard let context else { return 0 }
                    return Unmanaged<Condition>.fromOpaque(context).takeUnretainedValue().isTrue() ? 1 : 0
                }, Unmanaged.passUnretained(condition).toOpaque())
            defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
            return try body()
        }
    }
}
