import Foundation

/// The actual schema of a store: tables with their columns, indexes and triggers, and the entities' numbers.
package struct SQLCatalog: Sendable, Hashable {
    /// The columns of each table and of each R-tree, in order.
    package var columns: [String: [String]] = [:]
    /// The database's names of the types of columns, by table and column; empty if columns have no types.
    package var columnTypes: [String: [String: String]] = [:]
    /// The SQL of all entries in `sqlite_master` that have some, by name.
    package var statements: [String: String] = [:]
    /// The entities of `Z_PRIMARYKEY`, without those of a history.
    package var numbers: [String: Int64] = [:]
    /// The views and virtual tables, in upper case: names in SQLite are case-insensitive.
    package var derivedTables: Set<String> = []
    /// The tables in which `Z_PK` is the rowid, which only an integer primary key is.
    package var keyedTables: Set<String> = []

    package init() {}

    /// Whether the database is empty: a file that has just been created.
    package var isEmpty: Bool { statements.isEmpty && columns.isEmpty }

    package func hasTable(_ name: String) -> Bool { columns[name] != nil }

    /// Adds the tables of another database that this one does not have.
    package mutating func add(_ other: SQLCatalog) {
        keyedTables.formUnion(other.keyedTables.filter { !hasTable($0) })
        columns.merge(other.columns) { own, _ in own }
        columnTypes.merge(other.columnTypes) { own, _ in own }
        statements.merge(other.statements) { own, _ in own }
        derivedTables.formUnion(other.derivedTables)
    }
}

/// What a database allows as names of tables and columns, and which values a store keeps outside of rows.
package struct SQLNaming: Sendable {
    /// The maximum number of bytes of a name; nil if it is not limited.
    package let limit: Int?
    /// Whether large values are in files beside the store.
    package let hasExternalFiles: Bool

    package static let sqlite = SQLNaming(limit: nil, hasExternalFiles: true)
    /// PostgreSQL cuts longer names, so that two could become equal.
    package static let postgreSQL = SQLNaming(limit: 63, hasExternalFiles: false)

    /// A name within the limit: the beginning of a longer one, with a hash of the whole. The same in every process.
    package func fitting(_ name: String) -> String {
        guard let limit, name.utf8.count > limit else { return name }
        // FNV-1a, of 64 bits.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let suffix = "_" + String(hash, radix: 16, uppercase: true)
        var start = ""
        for character in name {
            guard start.utf8.count + character.utf8.count + suffix.utf8.count <= limit else { break }
            start.append(character)
        }
        return start + suffix
    }
}

/// The type of an SQL expression. It determines which comparisons have the same result in SQL and in memory.
package enum SQLKind: Equatable {
    case integer, boolean, real, decimal
    case string, date, uuid, url, data
    /// Bytes that are decoded by a transformer, or that may be in a file: they can only be compared with nil.
    case bytes
    /// The primary key of an object; entities are identified by the index of their root entity.
    case key(root: Int)
    /// The number of an object's own entity.
    case entity
    case entityName

    package var isNumber: Bool {
        switch self {
        case .integer, .boolean, .real, .decimal: true
        default: false
        }
    }

    /// Whether two expressions of these kinds can be compared.
    package func compares(with other: SQLKind) -> Bool {
        self == other ? self != .bytes : isNumber && other.isNumber
    }
}
