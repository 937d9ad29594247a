import PredicateLanguage

/// One FROM clause: a table, and the tables that key paths join to it.
final class SQLScope {
    private let aliases: SQLAliases
    private let schema: SQLSchema
    private(set) var from: SQLFragment
    /// Tables that to-one relationships lead to, by the column that refers to them.
    private var joined: [String: SQLSource] = [:]

    /// A scope over the rows of an entity's table.
    init(_ entity: SQLEntity, schema: SQLSchema, aliases: SQLAliases) {
        self.schema = schema
        self.aliases = aliases
        let alias = aliases.next()
        from = "\(entity.table) AS \(alias)"
        first = alias
        self.entity = entity.entity
    }

    /// How many tables SQLite joins in one clause, less one.
    static let joinLimit = 63

    /// How many tables are joined to the first.
    private(set) var joinCount = 0

    private let first: String
    private let entity: NSEntityDescription

    /// The rows that the scope begins with.
    var base: SQLSource { SQLSource(alias: first, entity: entity, scope: self) }

    /// The row that a to-one relationship's column refers to; joined once, however often it is named. Rows without it
    /// stay, and its columns are NULL then.
    func join(_ column: String, of source: SQLSource, to destination: SQLEntity) -> SQLSource {
        let reference = "\(source.alias).\(column)"
        if let known = joined[reference] { return known }
        joinCount += 1
        let alias = aliases.next()
        from.append("\n    LEFT JOIN \(destination.table) AS \(alias) ON \(alias).Z_PK = \(reference)")
        let made = SQLSource(alias: alias, entity: destination.entity, scope: self)
        joined[reference] = made
        return made
    }

    /// Adds a table to the clause, on a condition that is written with its alias.
    func add(_ table: SQLFragment, on condition: (String) -> SQLFragment) -> String {
        joinCount += 1
        let alias = aliases.next()
        from.append("\n    JOIN \(table) AS \(alias) ON \(condition(alias))")
        return alias
    }

    func source(_ alias: String, _ entity: NSEntityDescription) -> SQLSource {
        SQLSource(alias: alias, entity: entity, scope: self)
    }
}

/// Rows in a FROM clause: what a key path begins at.
struct SQLSource {
    let alias: String
    let entity: NSEntityDescription
    let scope: SQLScope
}

/// Gives each table of a statement its name.
final class SQLAliases {
    private var count = 0

    func next() -> String {
        defer { count += 1 }
        return "t\(count)"
    }
}
