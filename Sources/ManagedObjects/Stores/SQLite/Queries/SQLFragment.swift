import Foundation
import GRDB

/// A piece of SQL with the values of its parameters in the order of its question marks.
///
/// Written as a literal: `"\(column) = \(argument)"` takes over a fragment's text and arguments, and puts a question mark
/// for an argument; names stand in the text itself. Values never do.
struct SQLFragment: ExpressibleByStringInterpolation {
    var text: String
    var arguments: [SQLArgument]

    init(stringLiteral text: String) {
        self.text = text
        arguments = []
    }

    init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
        arguments = stringInterpolation.arguments
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var arguments: [SQLArgument] = []

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 12)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ fragment: SQLFragment) {
            text += fragment.text
            if !fragment.arguments.isEmpty { arguments += fragment.arguments }
        }

        mutating func appendInterpolation(_ argument: SQLArgument) {
            text += "?"
            arguments.append(argument)
        }

        /// A name of a table, a column, a function: part of the text.
        mutating func appendInterpolation(_ name: String) { text += name }
    }

    mutating func append(_ fragment: SQLFragment) {
        text += fragment.text
        if !fragment.arguments.isEmpty { arguments += fragment.arguments }
    }
}

extension [SQLFragment] {
    func joined(separator: String) -> SQLFragment {
        var joined: SQLFragment = ""
        for (position, fragment) in enumerated() {
            if position > 0 { joined.text += separator }
            joined.append(fragment)
        }
        return joined
    }
}

/// The value of a parameter.
enum SQLArgument {
    /// A value that belongs to the text: an entity's number, a limit, a value that the text depends on.
    case fixed(DatabaseValue)
    /// A constant of the predicate, by its position, and how it is turned into what the store keeps. A predicate of the
    /// same shape gives the same text with other constants.
    case constant(Int, SQLConversion)
    /// The moment at which the statement runs.
    case now
    case offset
    case limit

    static func integer(_ number: Int64) -> SQLArgument { .fixed(number.databaseValue) }
    static func text(_ string: String) -> SQLArgument { .fixed(string.databaseValue) }
}
