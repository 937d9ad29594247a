import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

// Reads rows by statements that are prepared once for few different numbers of keys.

extension Database: SQLWritingDatabase {
    func run(_ query: SQLQuery) throws -> Int {
        let statement = try SQLStatement(query, in: self)
        defer { statement.finish() }
        try statement.run()
        return changesCount
    }

    func cursor(_ query: SQLQuery) throws -> SQLStatement { try SQLStatement(query, in: self) }

    /// One statement for up to 500 keys.
    func readRows(withKeys keys: [Int64], by reader: RowReader) throws {
        try SQLParameters.forEachSlice(of: keys) { slice in
            let capacity = SQLParameters.capacity(for: slice.count)
            let statement = try SQLStatement(reader.plan.selection(ofKeys: capacity), in: self)
            defer { statement.finish() }
            SQLParameters.bind(slice, to: statement, capacity: capacity)
            try reader.readAll(statement)
        }
    }

    /// One statement if the keys are close together, otherwise one for each 500 keys. A range may select rows of other
    /// keys too.
    func forEachCursor(
        of keys: [Int64], selecting selection: (SQLKeyCondition) -> SQLSelect, _ body: (SQLStatement) throws -> Void
    ) throws {
        if let range = Self.closeRange(of: keys) {
            let condition = SQLKeyCondition {
                .between($0)
            } again: {
                .text("\($0) BETWEEN ?1 AND ?2")
            }
            let statement = try SQLStatement(selection(condition), in: self)
            defer { statement.finish() }
            statement.bind(range.lowerBound, at: 1)
            statement.bind(range.upperBound, at: 2)
            return try body(statement)
        }
        try SQLParameters.forEachSlice(of: keys) { slice in
            let capacity = SQLParameters.capacity(for: slice.count)
            let condition = SQLKeyCondition {
                .among($0, parameters: capacity)
            } again: {
                .among($0, parameters: capacity, areFirst: true)
            }
            let statement = try SQLStatement(selection(condition), in: self)
            defer { statement.finish() }
            SQLParameters.bind(slice, to: statement, capacity: capacity)
            try body(statement)
        }
    }

    /// The range of keys, if most numbers in it are among them: rows of other keys are read and discarded.
    private static func closeRange(of keys: [Int64]) -> ClosedRange<Int64>? {
        guard keys.count > 8, let lowest = keys.min(), let highest = keys.max(),
            highest - lowest < Int64(keys.count) + Int64(keys.count) / 4
        else { return nil }
        return lowest...highest
    }
}
