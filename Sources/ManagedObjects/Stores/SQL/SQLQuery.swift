import GRDB

/// A statement and the values of its parameters, in order.
///
/// Equal queries must have equal texts, because prepared statements are cached by their text. Values therefore belong
/// in `arguments`.
struct SQLQuery {
    var sql: String
    var arguments: [DatabaseValue] = []
}

extension Database {
    /// Executes a statement that returns no rows.
    func execute(_ query: SQLQuery) throws {
        try execute(sql: query.sql, arguments: StatementArguments(query.arguments))
    }
}

extension SQLQuery {
    /// A command in a dialect.
    init(_ command: some SQLCommand, _ arguments: [DatabaseValue] = [], in dialect: any SQLDialect) {
        self.init(sql: dialect.text(of: command), arguments: arguments)
    }

    init(_ command: some SQLCommand, _ arguments: [DatabaseValue] = []) {
        self.init(sql: SQLiteDialect().text(of: command), arguments: arguments)
    }

    /// A statement whose only parameter is a list of keys.
    init(_ command: some SQLCommand, list keys: some Sequence<Int64>) {
        self.init(command, [SQLiteDialect().value(of: keys).databaseValue])
    }
}
