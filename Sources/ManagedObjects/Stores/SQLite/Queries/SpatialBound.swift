import PredicateLanguage

/// A column that is a dimension of an R-tree.
struct SpatialColumn {
    let table: String
    let column: String
    /// The rows that the R-tree is of, by their name in the statement.
    let row: String

    func isOfSameTree(as other: SpatialColumn) -> Bool { table == other.table && row == other.row }
}

/// A limit that an R-tree can search by: all rows within it are found, and perhaps some more.
struct SpatialBound {
    let column: SpatialColumn
    let sql: SQLFragment

    /// - Returns: Nil for what an R-tree cannot search by.
    init?(_ column: SpatialColumn?, _ operation: ComparisonOperator, _ limit: SQLFragment) {
        guard let column else { return nil }
        switch operation {
        case .lessThan, .lessThanOrEqualTo: sql = "\(column.column)_MIN <= \(limit)"
        case .greaterThan, .greaterThanOrEqualTo: sql = "\(column.column)_MAX >= \(limit)"
        case .equalTo: sql = "\(column.column)_MIN <= \(limit) AND \(column.column)_MAX >= \(limit)"
        default: return nil
        }
        self.column = column
    }
}
