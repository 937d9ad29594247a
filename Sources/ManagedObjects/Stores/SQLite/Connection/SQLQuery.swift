import GRDB

/// A statement and the values of its parameters, in order.
///
/// Equal queries must have equal texts, because prepared statements are cached by their text. Values therefore belong
/// in `arguments`.
struct SQLQuery {
    var sql: String
    var arguments: [DatabaseValue] = []
}
