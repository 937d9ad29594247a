import SQLStores

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
