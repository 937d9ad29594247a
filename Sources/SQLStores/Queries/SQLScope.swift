import PredicateLanguage
import SQLStatements

/// One FROM clause: a table, and the tables that are joined to it for key paths.
final class SQLScope {
    private let aliases: SQLAliases
    private let schema: SQLSchema
    private(set) var from: SQLFragment
    /// The destination tables of to-one relationships, by the referring column.
    private var joined: [String: SQLSource] = [:]

    /// A scope over the rows of an entity's table.
    init(_ entity: SQLEntity, schema: SQLSchema, aliases: SQLAliases) {
        self.schema = schema
        self.aliases = aliases
        let alias = aliases.next()
        from = "\(entity.table) AS \(alias)"
        first = alias
        self.entity = entity
    }

    /// The maximum number of joined tables in one FROM clause of SQLite, less one.
    static let joinLimit = 63

    /// The number of tables that are joined to the first.
    private(set) var joinCount = 0

    private let first: String
    private let entity: SQLEntity

    /// The rows of the first table.
    var base: SQLSource { SQLSource(alias: first, entity: entity, scope: self) }

    /// The row to which a to-one relationship's column refers. The table is joined once, however often the relationship
    /// is used. Rows without a destination are kept, with NULL in the joined columns.
    func join(_ column: String, of source: SQLSource, to destination: SQLEntity) -> SQLSource {
        let reference = "\(source.alias).\(column)"
        if let known = joined[reference] { return known }
        joinCount += 1
        let alias = aliases.next()
        from.append("\n    LEFT JOIN \(destination.table) AS \(alias) ON \(alias).Z_PK = \(reference)")
        let made = SQLSource(alias: alias, entity: destination, scope: self)
        joined[reference] = made
        return made
    }

    /// Joins a table, with a condition that is written with its alias.
    func add(_ table: SQLFragment, on condition: (String) -> SQLFragment) -> String {
        joinCount += 1
        let alias = aliases.next()
        from.append("\n    JOIN \(table) AS \(alias) ON \(condition(alias))")
        return alias
    }

    func source(_ alias: String, _ entity: SQLEntity) -> SQLSource {
        SQLSource(alias: alias, entity: entity, scope: self)
    }
}

/// Rows in a FROM clause, from which a key path starts.
struct SQLSource {
    let alias: String
    let entity: SQLEntity
    let scope: SQLScope
}

/// Generates the table aliases of a statement.
final class SQLAliases {
    private var count = 0

    func next() -> String {
        defer { count += 1 }
        return "t\(count)"
    }
}
