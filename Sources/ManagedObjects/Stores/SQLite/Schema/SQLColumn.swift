/// A column of an entity's table.
struct SQLColumn: Sendable, Equatable {
    /// The types as Core Data spells them. SQLite derives an affinity from each and ignores them otherwise.
    enum Declaration: String, Sendable {
        case integer = "INTEGER"
        case timestamp = "TIMESTAMP"
        case float = "FLOAT"
        case decimal = "DECIMAL"
        case varchar = "VARCHAR"
        case blob = "BLOB"
    }

    var name: String
    var declaration: Declaration
    /// Of a to-one whose destination has subentities: the column that holds the `Z_ENT` of the object referred to.
    var companion: String?
    /// Whether values begin with a byte that tells data kept in the row from data kept in a file beside the store.
    var hasStorageByte = false
}

extension SQLColumn.Declaration {
    /// What a slot of a kind is kept in; nil where it has no column.
    init?(_ kind: EntityLayout.Slot.Kind) {
        switch kind {
        case .integer16, .integer32, .integer64, .boolean, .toOne, .position: self = .integer
        case .date: self = .timestamp
        case .double, .float: self = .float
        case .decimal: self = .decimal
        case .string, .uri: self = .varchar
        case .uuid, .data, .transformable: self = .blob
        case .undefined: return nil
        }
    }
}
