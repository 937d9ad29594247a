#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// The rows of a statement: received whole, or one after the other.
    package final class PostgreSQLCursor: SQLCursor {
        private let rows: PostgreSQLRows?
        private var result: PostgreSQLResult
        private var count: Int
        private var row = -1

        init(_ result: PostgreSQLResult) {
            rows = nil
            self.result = result
            count = result.rowCount
        }

        init(_ rows: PostgreSQLRows) {
            self.rows = rows
            result = rows.current
            count = result.rowCount
        }

        @inline(__always)
        package func step() throws -> Bool {
            row += 1
            if row < count { return true }
            guard let rows, try rows.advance() else { return false }
            (result, count, row) = (rows.current, 1, 0)
            return true
        }

        package func finish() { rows?.end() }

        package var columnCount: Int { result.columnCount }

        @inline(__always) package func isNull(_ column: Int) -> Bool { result.isNull(row, column) }
        @inline(__always) package func integer(_ column: Int) -> Int64 { result.integer(row, column) }
        @inline(__always) package func double(_ column: Int) -> Double { result.real(row, column) }
        @inline(__always) package func bytes(_ column: Int) -> UnsafeRawBufferPointer { result.bytes(row, column) }

        package func type(_ column: Int) -> SQLValueType {
            if result.isNull(row, column) { return .null }
            return switch result.type(ofColumn: column) {
            case .integer, .mediumInteger, .smallInteger, .boolean: .integer
            case .real: .real
            case .bytes: .blob
            case .text, .varchar, .name, nil: .text
            }
        }

        package func textBytes(_ column: Int) -> UnsafeRawBufferPointer? {
            result.isNull(row, column) ? nil : result.bytes(row, column)
        }
    }

    /// A connection while it is used by one task.
    package struct PostgreSQLDatabase: SQLWritingDatabase {
        package let connection: PostgreSQLConnection

        package init(connection: PostgreSQLConnection) { self.connection = connection }

        func run(_ query: SQLQuery) throws -> Int {
            try connection.execute(query.sql, query.arguments.map(PostgreSQLValue.init)).affectedCount
        }

        /// The rows are received while they are read.
        package func cursor(_ query: SQLQuery) throws -> PostgreSQLCursor {
            PostgreSQLCursor(try connection.rows(query.sql, query.arguments.map(PostgreSQLValue.init)))
        }

        /// The number of keys of one statement, whose rows are received whole.
        private static let keyLimit = 10_000

        private static func forEachSlice(of keys: [Int64], _ body: (ArraySlice<Int64>) throws -> Void) rethrows {
            for start in stride(from: 0, to: keys.count, by: keyLimit) {
                try body(keys[start..<min(start + keyLimit, keys.count)])
            }
        }

        /// One statement for up to 10,000 keys.
        func readRows(withKeys keys: [Int64], by reader: RowReader) throws {
            try Self.forEachSlice(of: keys) { keys in
                let result = try connection.execute(reader.plan.selectionOfKeys, [.array(PostgreSQLArray(keys))])
                try reader.readAll(PostgreSQLCursor(result))
            }
        }

        /// One statement for up to 10,000 keys, with the list as its first parameter.
        func forEachCursor(
            of keys: [Int64], selecting selection: (SQLKeyCondition) -> SQLSelect,
            _ body: (PostgreSQLCursor) throws -> Void
        ) throws {
            let condition = SQLKeyCondition {
                .listed($0)
            } again: {
                .text("\($0) = ANY(?1::bigint[])")
            }
            let text = PostgreSQLDialect().text(of: selection(condition))
            try Self.forEachSlice(of: keys) { keys in
                try body(PostgreSQLCursor(try connection.execute(text, [.array(PostgreSQLArray(keys))])))
            }
        }
    }

    extension PostgreSQLValue {
        package init(_ value: ColumnValue) {
            switch value {
            case .null: self = .null
            case .integer(let number): self = .integer(number)
            case .real(let number): self = .real(number)
            case .text(let text): self = .text(text)
            case .blob(let data): self = .bytes(data)
            }
        }
    }

    /// A transaction that lasts as long as the work that reads from it.
    final class PostgreSQLHeldTransaction: StoreGeneration {
        let connection: PostgreSQLConnection

        init(_ connection: PostgreSQLConnection) { self.connection = connection }
    }
#endif
