/// A column of an entity's table.
struct SQLColumn: Sendable, Equatable {
    /// The types of Core Data's columns. A dialect writes their names.
    enum Declaration: Sendable {
        case integer
        case timestamp
        case float
        case decimal
        case varchar
        case blob
    }

    var name: String
    var declaration: Declaration
    /// For a to-one relationship whose destination has subentities: the column with the `Z_ENT` of the destination.
    var companion: String?
    /// Whether values begin with a byte that distinguishes data in the row from data in a file beside the store.
    var hasStorageByte = false
}

extension SQLColumn.Declaration {
    /// The declaration for a kind of slot; nil if it has no column.
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
