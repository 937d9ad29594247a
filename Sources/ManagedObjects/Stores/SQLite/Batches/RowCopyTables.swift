import SQLStores

/// The temporary tables of a copy operation.
enum RowCopyTables {
    /// The requested rows, and all rows to be copied: root entity, key, entity.
    static let roots = "temp.CoralCopyRoots"
    static let found = "temp.CoralCopyFound"
    /// Column values that name files, and the corresponding values of the copies.
    static let files = "temp.CoralCopyFiles"

    /// The copies of a root entity's rows: old key, new key, entity.
    static func map(_ root: Int64) -> String { "temp.CoralCopy\(root)" }

    /// The rows `o` of the originals (`old`) or of the copies (`new`) of an entity, and their entries `m` in the map. SQLite
    /// executes the loops of a `CROSS JOIN` in the order of the text: here the map's first.
    static func rows(of entity: RowCopyPlan.Entity, _ key: String) -> String {
        "\(map(entity.root)) m CROSS JOIN \(entity.sql.table) o ON o.Z_PK = m.\(key)"
    }

    static func creation(_ roots: [Int64]) -> String {
        let maps = roots.map { "CREATE TABLE \(map($0)) (old INTEGER PRIMARY KEY, new INTEGER, ent INTEGER);" }
        return removal(roots) + "CREATE TABLE \(Self.roots) (r INTEGER, k INTEGER, e INTEGER, UNIQUE (r, k));"
            + "CREATE TABLE \(found) (r INTEGER, k INTEGER, e INTEGER);"
            + "CREATE TABLE \(files) (old BLOB PRIMARY KEY, new BLOB);" + maps.joined()
    }

    static func removal(_ roots: [Int64]) -> String {
        ([Self.roots, found, files] + roots.map(map)).map { "DROP TABLE IF EXISTS \($0);" }.joined()
    }

    /// A column of an original, with the name of the copied file if it names a file.
    static func withCopiedFiles(_ column: SQLColumn) -> String {
        "CASE WHEN length(o.\(column.name)) < 39 THEN "
            + "IFNULL((SELECT new FROM \(files) WHERE old = o.\(column.name)), o.\(column.name)) "
            + "ELSE o.\(column.name) END"
    }
}
