import PredicateLanguage

/// What an SQL expression stands for: enough to know which comparisons mean in SQL what they mean in memory.
enum SQLKind: Equatable {
    case integer, boolean, real, decimal
    case string, date, uuid, url, data
    /// Bytes that only a transformer reads, or that may lie in a file: they are there or not, and no more.
    case bytes
    /// The primary key of an object; entities by the index of their root.
    case key(root: Int)
    /// The number of an object's own entity.
    case entity
    case entityName

    var isNumber: Bool {
        switch self {
        case .integer, .boolean, .real, .decimal: true
        default: false
        }
    }

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

    /// Whether two expressions of these kinds can be compared.
    func compares(with other: SQLKind) -> Bool {
        self == other ? self != .bytes : isNumber && other.isNumber
    }

    /// Whether constants of the value's kind can be compared with such an expression.
    func compares(with value: PredicateValue) -> Bool {
        switch (self, value) {
        case (.integer, .double(let number)), (.boolean, .double(let number)), (.real, .double(let number)),
            (.decimal, .double(let number)):
            !number.isNaN
        case (.integer, _), (.boolean, _), (.real, _), (.decimal, _): value.isNumber
        case (.string, .string), (.date, .date), (.uuid, .uuid), (.url, .url), (.data, .data): true
        case (.entityName, .string): true
        case (.key, _): SQLConversion.key(of: value) != nil
        case (.entity, .object(let subject)): subject is NSEntityDescription
        default: false
        }
    }
}

/// An SQL expression with one value for each row.
struct SQLValue {
    var sql: SQLFragment
    var kind: SQLKind
    /// Whether it may be NULL.
    var isNullable = true
    /// Whether it is a column as it stands, so that an index may help.
    var isColumn = false
    /// The R-tree that is to be used, where the predicate names one.
    var spatial: SpatialColumn?
    /// The entity of what a key refers to.
    var reference: Reference?

    struct Reference {
        /// The entity as declared.
        let entity: NSEntityDescription
        /// The number of the object's own entity, where it may be another than the declared one.
        let number: SQLFragment?
    }
}

/// A condition in SQL: 1, 0, or NULL where it depends on an absent value.
struct SQLCondition {
    var sql: SQLFragment
    /// Whether it may be NULL, which a WHERE clause takes for false, but NOT does not take for true.
    var isNullable: Bool
    /// What an R-tree knows of the rows for which the condition is 1.
    var bounds: [SpatialBound]

    init(_ sql: SQLFragment, isNullable: Bool = false, bounds: [SpatialBound] = []) {
        self.sql = sql
        self.isNullable = isNullable
        self.bounds = bounds
    }

    /// The condition, asked of the rows that R-trees find. An R-tree keeps numbers with seven digits, so that it may find
    /// too many.
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

    static let always = SQLCondition("1")
    static let never = SQLCondition("0")

    /// The contrary: true also where the condition is NULL.
    var negated: SQLCondition {
        SQLCondition(isNullable ? "(\(sql)) IS NOT TRUE" : "NOT (\(sql))")
    }
}
