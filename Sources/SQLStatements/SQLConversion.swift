import Foundation
import PredicateLanguage

/// The conversion of a constant to the value by which the store represents it.
package enum SQLConversion {
    /// By its type: a number as a number, a date as seconds, a UUID as bytes, a URL as text.
    case plain
    /// A number that is compared with whole numbers: a decimal is exact if it is whole, because a double has 53 bits only.
    case whole
    /// A text in Unicode normalization form C or D.
    case composed, decomposed
    /// The primary key of an object or an ID.
    case key
    /// The smallest text that is greater than all texts with the constant as prefix.
    case endOfPrefix
    /// A text without the differences that options ignore, in Unicode normalization form C.
    case folded(ComparisonOptions)
    /// The same for a pattern of `LIKE`, as a pattern of SQL with the escape character `\`.
    case foldedPattern(ComparisonOptions)

    /// The value in the store.
    ///
    /// - Parameter key: The primary key of a constant that is an object or an ID; nil for other constants.
    package func value(of constant: PredicateValue, key: (PredicateValue) -> Int64?) -> ColumnValue {
        switch self {
        case .plain: Self.plain(constant)
        case .whole:
            if case .decimal(let value) = constant, let whole = Int64(value.description) {
                .integer(whole)
            } else {
                Self.plain(constant)
            }
        case .composed: Self.text(constant, \.precomposedStringWithCanonicalMapping)
        case .decomposed: Self.text(constant, \.decomposedStringWithCanonicalMapping)
        case .folded(let options): Self.text(constant) { Self.folded($0, options) }
        case .foldedPattern(let options): Self.text(constant) { LikePattern.sql(Self.folded($0, options)) }
        case .key: key(constant).map(ColumnValue.integer) ?? .null
        case .endOfPrefix:
            if case .string(let prefix) = constant { Self.end(ofPrefix: prefix) } else { .null }
        }
    }

    private static func text(_ constant: PredicateValue, _ form: (String) -> String) -> ColumnValue {
        if case .string(let text) = constant { .text(form(text)) } else { .null }
    }

    private static func folded(_ text: String, _ options: ComparisonOptions) -> String {
        StringFolding.fold(text, options: options).precomposedStringWithCanonicalMapping
    }

    private static func plain(_ constant: PredicateValue) -> ColumnValue {
        switch constant {
        case .bool(let value): .integer(value ? 1 : 0)
        case .integer(let value): .integer(value)
        case .double(let value): .real(value)
        case .decimal(let value): .real(Double(value.description) ?? .nan)
        case .string(let value): .text(value)
        case .date(let value): .real(value.timeIntervalSinceReferenceDate)
        case .data(let value): .blob(value)
        case .uuid(let value): ColumnValue(value)
        case .url(let value): .text(value.absoluteString)
        case .null, .collection, .object, .other: .null
        }
    }

    /// The smallest text after all texts with a prefix: its last character is replaced by the next one. If there is none, the result is a blob, which SQLite sorts after
    /// all texts.
    package static func end(ofPrefix prefix: String) -> ColumnValue {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let scalar = Unicode.Scalar(next) {
                scalars.append(scalar)
                var end = ""
                end.unicodeScalars.append(contentsOf: scalars)
                return .text(end)
            }
        }
        return .blob(Data())
    }
}

extension LikePattern {
    /// A pattern as one of SQL, in which `%` is any text and `_` any character.
    fileprivate static func sql(_ pattern: String) -> String {
        var sql = ""
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped: sql += "%"
            case "?" where !isEscaped: sql += "_"
            case "%", "_", "\\": sql += "\\\(scalar)"
            default: sql.unicodeScalars.append(scalar)
            }
            isEscaped = false
        }
        return isEscaped ? sql + "\\\\" : sql
    }
}
