import GRDB
import SQLStores

// Values in the form that GRDB's statements take and return.

extension ColumnValue {
    init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob(data)
        }
    }

    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .blob(let data): data.databaseValue
        }
    }
}

extension Row {
    var columnValues: [ColumnValue] { databaseValues.map { ColumnValue($0) } }
}

extension StatementArguments {
    init(_ values: [ColumnValue]) { self.init(values.map(\.databaseValue)) }
}

extension Database {
    /// Executes a statement that returns no rows.
    func execute(_ query: SQLQuery) throws {
        try execute(sql: query.sql, arguments: StatementArguments(query.arguments))
    }
}
