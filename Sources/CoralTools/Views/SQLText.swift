import Coral

/// Parts of SQL statements, in SQLite's dialect unless stated otherwise.
package enum SQLText {
    /// A quoted identifier, whatever its characters.
    package static func name(_ text: String) -> String { quoted(text, "\"") }

    /// A string literal.
    package static func literal(_ text: String) -> String { quoted(text, "'") }

    private static func quoted(_ text: String, _ quote: Character) -> String {
        // By scalars: a quote and a combining mark are one `Character`.
        var result = String.UnicodeScalarView()
        let mark = quote.unicodeScalars.first
        for scalar in withoutNul(text).unicodeScalars {
            if scalar == mark { result.append(scalar) }
            result.append(scalar)
        }
        return "\(quote)\(String(result))\(quote)"
    }

    /// SQLite's parser ends a statement at a NUL.
    static func withoutNul(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\0" }))
    }

    /// The seconds from the reference date to the first and the last date of which PostgreSQL makes a timestamp, without some
    /// years: those of the views that a store on a server has.
    private static let serverDates = "-211800000000 AND 9223000000000"

    /// An expression of PostgreSQL's for the readable form of a column's value. A date that PostgreSQL does not have is NULL.
    static func serverValue(_ column: String, _ type: GraphValueType) -> String {
        switch type {
        // `to_timestamp` fails for another date, and with it the statement. NaN is greater than all numbers.
        case .date: "CASE WHEN \(column) BETWEEN \(serverDates) THEN to_timestamp(\(column) + 978307200.0) END"
        case .uuid: "CASE WHEN octet_length(\(column)) = 16 THEN encode(\(column), 'hex')::uuid END"
        case .boolean: "(\(column) <> 0)"
        default: column
        }
    }

    /// An expression for the readable form of a column's value.
    static func value(_ column: String, _ type: GraphValueType) -> String {
        switch type {
        // Core Data counts seconds from 2001. A value that is not a date of SQLite's range is shown as it is.
        case .date:
            "coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', \(column) + 978307200.0, 'unixepoch'), \(column))"
        case .uuid:
            "CASE WHEN typeof(\(column)) = 'blob' AND length(\(column)) = 16 THEN "
                + [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)]
                .map { "substr(hex(\(column)), \($0.0), \($0.1))" }.joined(separator: " || '-' || ")
                + " ELSE \(column) END"
        default: column
        }
    }
}
