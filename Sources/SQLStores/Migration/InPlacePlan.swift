import Foundation
import ManagedObjects
import ModelFiles
import SQLStatements

/// The statements that convert the tables of a store from one schema to another, in order.
///
/// No row is read by the program. Cost: a table whose columns are only added or renamed is not copied; one whose columns
/// are removed, or change their types, is copied once.
struct InPlacePlan {
    let schema: MigratedSchema
    private let catalog: SQLCatalog
    private(set) var statements: [String] = []
    /// Creates the unique indexes; if one of them fails, rows violate the constraint.
    private(set) var constraints: [String] = []
    /// The derived texts that the database cannot compute.
    let texts: [DerivedColumns.Text]

    /// - Parameters:
    ///   - objects: The indexes, triggers and views of the tables.
    ///   - types: The names and declared types of the columns of each table.
    ///   - defersCleanUp: Whether columns and tables that the new schema does not have stay, under other names.
    init(
        _ schema: MigratedSchema, _ catalog: SQLCatalog, types: [String: [(name: String, type: String)]],
        objects: some TableObjects, defersCleanUp: Bool
    ) {
        self.schema = schema
        self.catalog = catalog
        let tables = Self.tables(schema, catalog, types, defersCleanUp)
        let joinTables = JoinTableMigration(schema, catalog)
        let links = schema.movedRelationships.enumerated().map { LinkMigration(schema, catalog, $1, number: $0) }
        let references = ReferenceMigration(schema)
        let kept = Set(tables.filter { $0.isInPlace && $0.oldTable == $0.name && !$0.renamesColumns }.map(\.name))
            .union(joinTables.unchanged)
        let derived = DerivedColumns(
            schema,
            includesOthers: !links.isEmpty || !schema.removedNumbers.isEmpty || tables.contains(where: \.isShared))
        texts = derived.texts
        append(links.flatMap { $0.reading() })
        statements += objects.removal(except: kept)
        var left = migrate(tables)
        let pairs = joinTables.statements()
        append(pairs.statements)
        left += pairs.left
        remove(left, defersCleanUp)
        append(links.flatMap { $0.writing() })
        append(joinTables.cleaning())
        append(references.cleaning() + references.positions() + references.companions())
        append(derived.statements)
        append(CloudKitMigration(schema: schema, catalog: catalog).statements())
        let created = objects.creation(on: kept)
        statements += created.statements
        constraints = created.constraints
    }

    private mutating func append(_ commands: [any SQLCommand]) {
        statements += commands.map { schema.dialect.text(of: $0) }
    }

    private static func tables(
        _ schema: MigratedSchema, _ catalog: SQLCatalog, _ types: [String: [(name: String, type: String)]],
        _ defersCleanUp: Bool
    ) -> [TableMigration] {
        var newTables: [String: Set<String>] = [:]
        for pair in schema.pairs { newTables[pair.old.table, default: []].insert(pair.new.table) }
        return schema.new.tables.map { table in
            let former = schema.pairs.first { $0.new.entity.root == table.root.index }?.old.table
            return TableMigration(
                schema, table, oldTable: former.flatMap { catalog.hasTable($0) ? $0 : nil },
                isShared: former.map { (newTables[$0]?.count ?? 0) > 1 } ?? false,
                oldColumns: former.flatMap { types[$0] } ?? [], defersCleanUp: defersCleanUp)
        }
    }

    // MARK: - Entity tables

    /// Returns the names of the old tables that are no longer needed.
    private mutating func migrate(_ tables: [TableMigration]) -> [String] {
        let staying = Set(tables.filter { $0.isInPlace && $0.oldTable == $0.name }.map(\.name))
        var names: [String: String] = [:]
        for (index, table) in schema.old.tables.enumerated()
        where catalog.hasTable(table.name) && !staying.contains(table.name) {
            names[table.name] = "Z__T\(index)"
            append([SQLAlteration.renameTable(table.name, to: "Z__T\(index)")])
        }
        var dropped = Set(names.values)
        for table in tables {
            if staying.contains(table.name) {
                append(table.alterations())
            } else if table.isInPlace, let from = table.oldTable.flatMap({ names[$0] }) {
                dropped.remove(from)
                append([SQLAlteration.renameTable(from, to: table.name)] + table.alterations())
            } else {
                append([table.table.definition])
                if let from = table.oldTable.flatMap({ names[$0] }), !table.pairs.isEmpty {
                    append([table.copy(from: from)])
                }
            }
        }
        return dropped.sorted()
    }

    /// Drops tables, and those that earlier migrations have left; or leaves them under other names.
    private mutating func remove(_ tables: [String], _ defersCleanUp: Bool) {
        if defersCleanUp {
            var names = Set(catalog.columns.keys)
            append(tables.map { SQLAlteration.renameTable($0, to: DeferredCleanUp.name(besides: &names)) })
        } else {
            let left = catalog.columns.keys.filter(DeferredCleanUp.isLeft)
            append((left + tables).sorted().map(SQLAlteration.dropTable))
        }
    }
}

/// The SQL syntax that a migration in place needs in addition to that of a store's statements.
protocol SQLMigrationDialect: SQLDialect {
    /// Bytes as a literal, from their hexadecimal digits.
    func literal(ofBytes digits: String) -> String
    /// A text with a NUL character as a literal, from the hexadecimal digits of its bytes; nil if the database stores no such text.
    func literal(ofTextWithNUL digits: String) -> String?
    /// An infinite number as a literal.
    func literal(ofInfinity isNegative: Bool) -> String

    /// The bytes of an expression after the storage byte of values in the row.
    func addingStorageByte(to expression: String) -> String
    /// The value of an expression with a storage byte.
    func removingStorageByte(from expression: String) -> String

    /// The name of a temporary table in statements.
    func temporary(_ table: String) -> String
    /// The time of the transaction, in seconds from the reference date.
    var now: String { get }
    /// Whether a column is removed without copying the table.
    var dropsColumns: Bool { get }
}

/// The indexes, triggers and views of tables that are migrated in place.
protocol TableObjects {
    /// The statements that remove those that the new schema does not have, before the tables are changed.
    ///
    /// - Parameter kept: The tables whose columns keep their names.
    func removal(except kept: Set<String>) -> [String]

    /// The statements that create what is missing, after the rows have been migrated. Constraints are unique indexes:
    /// if one of them fails, rows violate the constraint.
    ///
    /// - Parameter kept: The tables whose indexes still exist.
    func creation(on kept: Set<String>) -> (statements: [String], constraints: [String])
}

extension TableObjects {
    /// The table of the statement of an index.
    static func table(of statement: String) -> String {
        statement.split(separator: " ").drop { $0 != "ON" }.dropFirst().first.map(String.init) ?? ""
    }
}

/// The statements that change the numbers of entities in the tables of CloudKit mirroring: those whose names begin with `ANSCK` and
/// that have a column `ZENTITYID`.
///
/// The rows assign the objects to records of CloudKit. Rows of removed entities are deleted: their numbers belong to
/// other entities of the new version.
struct CloudKitMigration {
    let schema: MigratedSchema
    let catalog: SQLCatalog

    func statements() -> [any SQLCommand] {
        let tables = catalog.columns.filter { $0.key.hasPrefix("ANSCK") && $0.value.contains("ZENTITYID") }.keys
        return tables.sorted().flatMap(statements)
    }

    private func statements(_ table: String) -> [any SQLCommand] {
        let (column, kept) = ("ZENTITYID", SQLRestriction.list(schema.pairs.map(\.old.number)))
        let deletion = SQLDelete(from: table, where: .text("\(column) NOT IN (\(kept))"))
        let changed = schema.pairs.filter { $0.old.number != $0.new.number }
        guard !changed.isEmpty else { return [deletion] }
        // Entity and key are unique together, and an update of many rows changes one after the other.
        let negative = SQLExpression.choice(by: column, changed.map { ($0.old.number, "\(-$0.new.number)") })
        let former = SQLRestriction.list(changed.map(\.old.number))
        return [
            deletion,
            SQLUpdate(
                table, set: [.expression(negative, of: column)], where: .text("\(column) IN (\(former))")),
            SQLUpdate(table, set: [.expression("-\(column)", of: column)], where: .text("\(column) < 0")),
        ]
    }
}

/// The columns and tables that deferred migrations have left in an SQLite store. They have names that no entity and no
/// property has.
enum DeferredCleanUp {
    private static let prefix = "Z__REMOVED"

    static func isLeft(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.utf8.dropFirst(prefix.utf8.count).allSatisfy { (48...57).contains($0) }
    }

    /// A name for a removed column or table.
    ///
    /// - Parameter names: The names that exist; the new one is added.
    static func name(besides names: inout Set<String>) -> String {
        var number = names.count(where: isLeft)
        while !names.insert(prefix + "\(number)").inserted { number += 1 }
        return prefix + "\(number)"
    }

    /// A statement for each column and table that has been left, in the order of their names.
    static func statements(_ catalog: SQLCatalog) -> [SQLAlteration] {
        let tables = catalog.columns.keys.filter(isLeft).sorted()
        let columns = catalog.columns.filter { !isLeft($0.key) }.sorted { $0.key < $1.key }
            .flatMap { table, columns in columns.filter(isLeft).map { (table, $0) } }
        return tables.map(SQLAlteration.dropTable) + columns.map { .dropColumns([$1], of: $0) }
    }
}

// What the executions on both databases share.

extension InPlaceMigration {
    /// The error for a store that another process has migrated to another version.
    func otherVersion(_ metadata: StoreMetadata, url: URL) -> CocoaError {
        CocoaError(
            .persistentStoreIncompatibleVersionHash,
            "Another process has migrated the store to another version of the model.", url: url,
            userInfo: ["metadata": metadata.published, "reason": "The store has another version of the model."])
    }

    /// The author of a migration's transaction.
    static func author(digest: String) -> String {
        "com.apple.coredata.schemamigrator: lightweight migration from model with digest { \(digest) }"
    }
}
