import Foundation

/// A piece of SQL with the values of its parameters, in the order of its question marks.
///
/// Written as a literal: in `"\(column) = \(argument)"` a fragment contributes its text and arguments, an argument
/// becomes a question mark, and a name becomes part of the text. Values are never part of the text.
package struct SQLFragment: ExpressibleByStringInterpolation {
    package var text: String
    package var arguments: [SQLArgument]

    package init(_ text: String, _ arguments: [SQLArgument]) {
        self.text = text
        self.arguments = arguments
    }

    package init(stringLiteral text: String) {
        self.text = text
        arguments = []
    }

    package init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
        arguments = stringInterpolation.arguments
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var arguments: [SQLArgument] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 12)
        }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        package mutating func appendInterpolation(_ fragment: SQLFragment) {
            text += fragment.text
            if !fragment.arguments.isEmpty { arguments += fragment.arguments }
        }

        package mutating func appendInterpolation(_ argument: SQLArgument) {
            text += "?"
            arguments.append(argument)
        }

        /// A name of a table, a column, a function: part of the text.
        package mutating func appendInterpolation(_ name: String) { text += name }
    }

    package mutating func append(_ fragment: SQLFragment) {
        text += fragment.text
        if !fragment.arguments.isEmpty { arguments += fragment.arguments }
    }
}

extension [SQLFragment] {
    package func joined(separator: String) -> SQLFragment {
        var joined: SQLFragment = ""
        for (position, fragment) in enumerated() {
            if position > 0 { joined.text += separator }
            joined.append(fragment)
        }
        return joined
    }
}

/// The value of a parameter.
package enum SQLArgument {
    /// A value on which the text depends: an entity's number, or a limit.
    case fixed(ColumnValue)
    /// A constant of the predicate, by its index, and its conversion to the stored value. A predicate that
    /// differs from another one only in constants has the same text.
    case constant(Int, SQLConversion)
    /// The time at which the statement runs.
    case now
    case offset
    case limit
    /// The list of keys that a query excludes.
    case excluded

    package static func integer(_ number: Int64) -> SQLArgument { .fixed(.integer(number)) }
    package static func text(_ string: String) -> SQLArgument { .fixed(.text(string)) }
}
