import ManagedObjects
import PredicateLanguage
import SQLStatements

extension SQLKind {
    init?(_ kind: EntityLayout.Slot.Kind) {
        switch kind {
        case .integer16, .integer32, .integer64, .position: self = .integer
        case .boolean: self = .boolean
        case .double, .float: self = .real
        case .decimal: self = .decimal
        case .date: self = .date
        case .string: self = .string
        case .uuid: self = .uuid
        case .uri: self = .url
        case .data: self = .data
        case .transformable: self = .bytes
        case .undefined, .toOne: return nil
        }
    }

    /// Whether a constant can be compared with an expression of this kind.
    func compares(with value: PredicateValue) -> Bool {
        switch (self, value) {
        case (.integer, .double(let number)), (.boolean, .double(let number)), (.real, .double(let number)),
            (.decimal, .double(let number)):
            !number.isNaN
        case (.integer, _), (.boolean, _), (.real, _), (.decimal, _): value.isNumber
        case (.string, .string), (.date, .date), (.uuid, .uuid), (.url, .url), (.data, .data): true
        case (.entityName, .string): true
        case (.key, _): value.storedObject != nil
        case (.entity, _): value.entityName != nil
        default: false
        }
    }
}

/// An SQL expression with one value per row.
struct SQLValue {
    var sql: SQLFragment
    var kind: SQLKind
    /// Whether it may be NULL.
    var isNullable = true
    /// Whether it is a plain column, so that an index may be used.
    var isColumn = false
    /// The R-tree to use, if the predicate names one.
    var spatial: SpatialColumn?
    /// The entity to which a key refers.
    var reference: Reference?

    /// The table's alias and the name of a plain column.
    var columnPlace: (alias: String, column: String)? {
        let parts = sql.text.split(separator: ".", maxSplits: 1)
        return isColumn && parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }

    struct Reference {
        /// The index of the entity as declared.
        let entity: Int
        /// The number of the object's own entity, if it may differ from the declared one.
        let number: SQLFragment?
    }
}

/// A condition in SQL: 1, 0, or NULL if it depends on a NULL value.
struct SQLCondition {
    var sql: SQLFragment
    /// Whether it may be NULL, which a WHERE clause treats as false, while NOT NULL is not true.
    var isNullable: Bool
    /// The bounds by which an R-tree finds the rows for which the condition is 1.
    var bounds: [SpatialBound]

    init(_ sql: SQLFragment, isNullable: Bool = false, bounds: [SpatialBound] = []) {
        self.sql = sql
        self.isNullable = isNullable
        self.bounds = bounds
    }

    /// The condition, evaluated on the rows that R-trees find. An R-tree stores 32-bit floating-point numbers, so that
    /// it may find too many rows.
    var indexed: SQLCondition {
        guard !bounds.isEmpty else { return self }
        var columns: [SpatialColumn] = []
        for bound in bounds where !columns.contains(where: { $0.isOfSameTree(as: bound.column) }) {
            columns.append(bound.column)
        }
        let searches = columns.map { column -> SQLFragment in
            let limits = bounds.filter { $0.column.isOfSameTree(as: column) }.map(\.sql).joined(separator: " AND ")
            return "\(column.row).Z_PK IN (SELECT Z_PK FROM \(column.table) WHERE \(limits))"
        }
        return SQLCondition("\(searches.joined(separator: " AND ")) AND \(sql)", isNullable: isNullable)
    }

    /// The negation, which is also true if the condition is NULL.
    var negated: SQLCondition {
        SQLCondition(isNullable ? "(\(sql)) IS NOT TRUE" : "NOT (\(sql))")
    }
}

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
