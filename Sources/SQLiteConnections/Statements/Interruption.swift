import Foundation
import GRDB
import GRDBSQLite

/// Ends the statements of a connection when a condition becomes true.
package struct Interruption {
    private let condition: Condition

    private final class Condition {
        let isTrue: () -> Bool

        init(_ isTrue: @escaping () -> Bool) { self.isTrue = isTrue }
    }

    package init(_ isTrue: @escaping () -> Bool) { condition = Condition(isTrue) }

    /// The number of steps of SQLite's virtual machine between two tests: about a millisecond.
    private static let stride: Int32 = 100_000

    /// Whether the condition is true.
    package var isRequested: Bool { condition.isTrue() }

    /// - Throws: `SQLITE_INTERRUPT` if the condition is true.
    package func check() throws {
        if isRequested { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
    }

    /// - Throws: The closure's error; `SQLITE_INTERRUPT` if the condition is true.
    package func run<Result>(on database: Database, _ body: () throws -> Result) throws -> Result {
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

/// The maximum number of steps of SQLite's virtual machine for a statement.
///
/// A damaged or crafted file can make a statement run forever, for example with pages that refer to each other. Steps
/// are counted instead of seconds, so that the result does not depend on the speed of the machine.
package struct StepLimit: Sendable {
    private let steps: Int64

    /// For statements over the schema and Core Data's own tables, which have about as many rows as the model has
    /// entities.
    package static let inspection = StepLimit(steps: 20_000_000)

    /// For statements over all rows of a file: about a hundred times the steps for the rows of an intact file of this
    /// size.
    package static func scan(byteCount: Int64) -> StepLimit {
        StepLimit(steps: 100_000_000 + max(0, min(byteCount, 1 << 44)) * 200)
    }

    /// The number of steps between two calls of the progress handler.
    private static let stride: Int64 = 1000

    /// Runs statements with a common limit. Limits do not nest: an inner one ends the outer one.
    ///
    /// - Throws: The closure's error, and `SQLITE_INTERRUPT` if the limit is reached.
    package func run<Result>(on database: Database, _ body: () throws -> Result) throws -> Result {
        var remaining = steps / Self.stride
        // SQLite uses the pointer only until the handler is removed, which happens before this returns.
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
