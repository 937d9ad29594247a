import GRDB
import GRDBSQLite

/// How many steps of SQLite's virtual machine a statement may take.
///
/// A damaged or crafted file can make a statement run without end: pages of a table that refer to each other, for example. Steps
/// are counted, not seconds, so that a slow machine gives the same answer as a fast one.
struct StepLimit: Sendable {
    private let steps: Int64

    /// For statements over the catalogue and Core Data's own tables, whose rows are as few as entities.
    static let inspection = StepLimit(steps: 20_000_000)

    /// For statements over all rows of a file: some hundred times what the rows of an intact file of this size need.
    static func scan(byteCount: Int64) -> StepLimit {
        StepLimit(steps: 100_000_000 + max(0, min(byteCount, 1 << 44)) * 200)
    }

    /// How many steps lie between two looks at the counter.
    private static let stride: Int64 = 1000

    /// Runs statements that together may take as many steps. Limits do not nest: the inner one ends the outer one.
    ///
    /// - Throws: What the body throws, and `SQLITE_INTERRUPT` where the limit is reached.
    func run<Result>(on database: Database, _ body: () throws -> Result) throws -> Result {
        var remaining = steps / Self.stride
        // The pointer is SQLite's only until the handler is taken away again, before this returns.
        return try withUnsafeMutablePointer(to: &remaining) { pointer in
            sqlite3_progress_handler(
                database.sqliteConnection, Int32(Self.stride),
                { context in
                    guard let remaining = context?.assumingMemoryBound(to: Int64.self) else { return 0 }
                    remaining.pointee -= 1
                    return remaining.pointee < 0 ? 1 : 0
                }, pointer)
            defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
            return try body()
        }
    }
}
