import CoralTools

/// Markup of a page: its literals are HTML, and text in it is escaped.
///
///     let cell: HTML = "<td title=\"\(path)\">\(text)</td>"
struct HTML: ExpressibleByStringInterpolation, Sendable {
    /// The markup as text.
    private(set) var text: String

    init(stringLiteral text: String) { self.text = text }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Markup that was made elsewhere, in which all text is escaped.
    init(markup text: String) { self.text = text }

    static func += (one: inout HTML, other: HTML) { one.text += other.text }

    static func + (one: HTML, other: HTML) -> HTML { HTML(markup: one.text + other.text) }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ markup: HTML) { text += markup.text }

        mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { text += part.text } }

        /// Markup if a condition is met.
        mutating func appendInterpolation(_ markup: HTML, if condition: Bool) { if condition { text += markup.text } }

        mutating func appendInterpolation(_ value: String) { text += HTMLText.escaped(value) }

        mutating func appendInterpolation(_ number: Int) { text += "\(number)" }

        /// A name that may be broken before its capital letters.
        mutating func appendInterpolation(breakable name: String) { text += HTMLText.breakable(name) }
    }
}
