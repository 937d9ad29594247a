/// Markup of a page: its literals are HTML, and text in it is escaped.
///
///     let cell: HTML = "<td title=\"\(path)\">\(text)</td>"
package struct HTML: ExpressibleByStringInterpolation, Sendable {
    /// The markup as text.
    package private(set) var text: String

    package init(stringLiteral text: String) { self.text = text }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Markup that was made elsewhere, in which all text is escaped.
    package init(markup text: String) { self.text = text }

    package static func += (one: inout HTML, other: HTML) { one.text += other.text }

    package static func + (one: HTML, other: HTML) -> HTML { HTML(markup: one.text + other.text) }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        /// Markup; nothing for nil.
        package mutating func appendInterpolation(_ markup: HTML?) { if let markup { text += markup.text } }

        package mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { text += part.text } }

        /// Markup if a condition is met.
        package mutating func appendInterpolation(_ markup: @autoclosure () -> HTML, if condition: Bool) {
            if condition { text += markup().text }
        }

        package mutating func appendInterpolation(_ value: String) { text += HTMLText.escaped(value) }

        /// The value of a field, which a browser sends back as it is.
        package mutating func appendInterpolation(field value: String) {
            text += HTMLText.escaped(fieldValue: value)
        }

        package mutating func appendInterpolation(_ number: some BinaryInteger) { text += "\(number)" }

        package mutating func appendInterpolation(_ number: Double) { text += "\(number)" }

        /// A name that may be broken before its capital letters.
        package mutating func appendInterpolation(breakable name: String) { text += HTMLText.breakable(name) }
    }
}

extension Sequence<HTML> {
    /// The elements as one, with markup between them.
    package func joined(by separator: HTML = "") -> HTML {
        HTML(markup: map(\.text).joined(separator: separator.text))
    }
}
