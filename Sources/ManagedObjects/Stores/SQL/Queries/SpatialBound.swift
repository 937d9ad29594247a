import PredicateLanguage
import SQLStores

/// A column that is a dimension of an R-tree.
struct SpatialColumn {
    let table: String
    let column: String
    /// The alias of the rows that the R-tree indexes.
    let row: String

    func isOfSameTree(as other: SpatialColumn) -> Bool { table == other.table && row == other.row }
}

/// A bound by which an R-tree can search: it finds all rows within the bound, and possibly others.
struct SpatialBound {
    let column: SpatialColumn
    let sql: SQLFragment

    /// - Returns: Nil for operators for which an R-tree cannot be used.
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
