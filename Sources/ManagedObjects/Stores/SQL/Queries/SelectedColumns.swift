/// The columns of the rows that a query selects from the table `t0`.
enum SelectedColumns {
    /// All that a plan reads: the plan for the entity of the query.
    case all(RowPlan)
    /// `Z_PK`.
    case keys
    /// `Z_PK` and `Z_ENT`.
    case keysAndEntities

    /// The list in a statement.
    var list: String {
        switch self {
        case .all(let plan): plan.qualifiedList
        case .keys: "t0.Z_PK"
        case .keysAndEntities: "t0.Z_PK, t0.Z_ENT"
        }
    }

    /// Distinguishes the statements of equal queries in the compiler's results.
    var form: Unicode.Scalar {
        switch self {
        case .all: "R"
        case .keys: "P"
        case .keysAndEntities: "E"
        }
    }
}
