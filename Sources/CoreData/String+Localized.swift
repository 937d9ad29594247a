// `String(localized:)`, which Foundation has on Apple's platforms only. It is here, and not in the engine, because nothing of the
// engine uses it: the sources of ported apps do.
import Foundation

extension String {
    /// The text in a table of localised strings: the value of a key, with the interpolated values where its format specifiers are.
    /// Without such a table, or without the key, the text is the key itself.
    ///
    /// ```swift
    /// String(localized: "\(count) notes in \(folder)", bundle: .module)     // the key is "%lld notes in %@"
    /// ```
    ///
    /// - Parameters:
    ///   - table: The table's name; nil means `Localizable`.
    ///   - bundle: The bundle with the table; nil means the main bundle.
    ///   - locale: The locale in which numbers are written.
    ///   - comment: A note for translators, without effect.
    public init(
        localized key: LocalizationValue, table: String? = nil, bundle: Bundle? = nil, locale: Locale = .current,
        comment: StaticString? = nil
    ) {
        let text = (bundle ?? .main).localizedString(forKey: key.key, value: nil, table: table)
        self = key.text(of: text, locale: locale)
    }

    /// The text in a table of localised strings under a key that is not the text itself.
    public init(
        localized key: StaticString, defaultValue: LocalizationValue, table: String? = nil, bundle: Bundle? = nil,
        locale: Locale = .current, comment: StaticString? = nil
    ) {
        let text = (bundle ?? .main).localizedString(forKey: key.description, value: defaultValue.key, table: table)
        self = defaultValue.text(of: text, locale: locale)
    }

    /// A key of a table of localised strings, and the values that were interpolated into it.
    public struct LocalizationValue: ExpressibleByStringInterpolation, Equatable, Sendable {
        /// The literal, with the format specifier of each interpolated value: `%@`, `%lld`, `%lf` and so on.
        fileprivate let key: String
        private let values: [Value]

        public init(_ value: String) { (key, values) = (value, []) }

        public init(stringLiteral value: String) { self.init(value) }

        public init(stringInterpolation: StringInterpolation) {
            (key, values) = (stringInterpolation.key, stringInterpolation.values)
        }

        /// A text with the values where its format specifiers are.
        fileprivate func text(of format: String, locale: Locale) -> String {
            // A literal without values is no format: `String(localized: "100%")`.
            values.isEmpty ? format : Self.text(of: Array(format), values, locale: locale)
        }
    }
}

extension String.LocalizationValue {
    fileprivate enum Value: Equatable, Sendable {
        case text(String), integer(Int64), unsigned(UInt64), number(Double)
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var key = ""
        fileprivate var values: [Value] = []

        public init(literalCapacity: Int, interpolationCount: Int) { key.reserveCapacity(literalCapacity) }

        public mutating func appendLiteral(_ literal: String) { key += literal.replacing("%", with: "%%") }

        public mutating func appendInterpolation(_ value: String) { append("%@", .text(value)) }

        public mutating func appendInterpolation(_ value: Substring) { append("%@", .text(String(value))) }

        /// Apple's key has the specifier of the type: `%lld` for an `Int`, `%d` for an `Int32`.
        public mutating func appendInterpolation<Integer: FixedWidthInteger>(_ value: Integer) {
            let size = Integer.bitWidth > 32 ? "ll" : ""
            if Integer.isSigned {
                append("%\(size)d", .integer(Int64(truncatingIfNeeded: value)))
            } else {
                append("%\(size)u", .unsigned(UInt64(truncatingIfNeeded: value)))
            }
        }

        public mutating func appendInterpolation(_ value: Double) { append("%lf", .number(value)) }

        public mutating func appendInterpolation(_ value: Float) { append("%f", .number(Double(value))) }

        /// Any other value, as its description.
        public mutating func appendInterpolation<Subject>(_ value: Subject) {
            append("%@", .text(String(describing: value)))
        }

        private mutating func append(_ specifier: String, _ value: Value) {
            key += specifier
            values.append(value)
        }
    }

    /// Formats `%@`, `%2$@`, `%.1lf` and others; `%%` is a percent sign. A specifier without a value remains.
    private static func text(of format: [Character], _ values: [Value], locale: Locale) -> String {
        var result = ""
        var (index, next) = (0, 0)
        while index < format.count {
            guard format[index] == "%" else {
                result.append(format[index])
                index += 1
                continue
            }
            let rest = format[(index + 1)...]
            guard let end = rest.firstIndex(where: { $0 == "@" || $0 == "%" || "diouxXfFeEgGaAcs".contains($0) }) else {
                return result + String(format[index...])
            }
            defer { index = end + 1 }
            if format[end] == "%" {
                result.append("%")
                continue
            }
            var flags = format[(index + 1)..<end]
            var position = next
            if let mark = flags.firstIndex(of: "$"), let number = Int(String(flags[..<mark])) {
                position = number - 1
                flags = flags[(mark + 1)...]
            } else {
                next += 1
            }
            guard values.indices.contains(position) else {
                result += String(format[index...end])
                continue
            }
            let options = String(flags.filter { !"hlqLjzt".contains($0) })
            result += text(of: values[position], options: options, conversion: format[end], locale: locale)
        }
        return result
    }

    /// One value. A conversion for another kind of value has no effect.
    private static func text(of value: Value, options: String, conversion: Character, locale: Locale) -> String {
        let format = "%\(options)"
        switch value {
        case .integer(let number) where "dioxXu".contains(conversion):
            return String(format: format + "ll\(conversion)", locale: locale, number)
        case .unsigned(let number) where "dioxXu".contains(conversion):
            return String(format: format + "ll\("di".contains(conversion) ? "u" : conversion)", locale: locale, number)
        case .number(let number) where "fFeEgGaA".contains(conversion):
            return String(format: format + "\(conversion)", locale: locale, number)
        case .text(let text): return text
        case .integer(let number): return String(number)
        case .unsigned(let number): return String(number)
        case .number(let number): return String(number)
        }
    }
}
