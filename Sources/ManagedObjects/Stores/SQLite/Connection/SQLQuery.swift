import GRDB

/// A statement and the values of its parameters, in order.
///
/// Equal queries must give equal texts: prepared statements are kept by their text, so values belong into `arguments`.
struct SQLQuery {
    var sql: String
    var arguments: [DatabaseValue] = []
}
