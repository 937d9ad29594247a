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
