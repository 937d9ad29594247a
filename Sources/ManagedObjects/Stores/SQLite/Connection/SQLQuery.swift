import Foundation

/// A value bound to a statement.
enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
}

/// A statement and the values of its parameters, in order.
///
/// Equal queries must give equal texts: prepared statements are kept by their text, so values belong into `arguments`.
struct SQLQuery: Sendable, Hashable {
    var sql: String
    var arguments: [SQLValue] = []
}

/// A query for values, with what its columns mean.
struct SQLValueQuery {
    /// How a column of the result becomes a value.
    enum Column {
        /// An attribute's value, or an expression's of that kind.
        case value(EntityLayout.Slot.Kind)
        /// An object's ID: two columns, primary key and `Z_ENT`.
        case objectID
    }

    var query: SQLQuery
    var columns: [Column]
}
