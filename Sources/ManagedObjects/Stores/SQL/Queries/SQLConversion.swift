import Foundation
import GRDB
import PredicateLanguage

/// The conversion of a constant to the value by which the store represents it.
enum SQLConversion {
    /// By its type: a number as a number, a date as seconds, a UUID as bytes, a URL as text.
    case plain
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

    func value(of constant: PredicateValue) -> DatabaseValue {
        switch self {
        case .plain: Self.plain(constant)
        case .composed: Self.text(constant, \.precomposedStringWithCanonicalMapping)
        case .decomposed: Self.text(constant, \.decomposedStringWithCanonicalMapping)
        case .folded(let options): Self.text(constant) { Self.folded($0, options) }
        case .foldedPattern(let options): Self.text(constant) { LikePattern.sql(Self.folded($0, options)) }
        case .key: (Self.key(of: constant)?.number).databaseValue
        case .endOfPrefix:
            if case .string(let prefix) = constant { Self.end(ofPrefix: prefix) } else { .null }
        }
    }

    private static func text(_ constant: PredicateValue, _ form: (String) -> String) -> DatabaseValue {
        if case .string(let text) = constant { form(text).databaseValue } else { .null }
    }

    private static func folded(_ text: String, _ options: ComparisonOptions) -> String {
        StringFolding.fold(text, options: options).precomposedStringWithCanonicalMapping
    }

    private static func plain(_ constant: PredicateValue) -> DatabaseValue {
        switch constant {
        case .bool(let value): (value ? 1 : 0).databaseValue
        case .integer(let value): value.databaseValue
        case .double(let value): value.databaseValue
        case .decimal(let value): (Double(value.description) ?? .nan).databaseValue
        case .string(let value): value.databaseValue
        case .date(let value): value.timeIntervalSinceReferenceDate.databaseValue
        case .data(let value): value.databaseValue
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { Data($0) }.databaseValue
        case .url(let value): value.absoluteString.databaseValue
        case .null, .collection, .object, .other: .null
        }
    }

    /// The last character is replaced by the next one. If there is none, the result is a blob, which SQLite sorts after
    /// all texts.
    private static func end(ofPrefix prefix: String) -> DatabaseValue {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let scalar = Unicode.Scalar(next) {
                scalars.append(scalar)
                var end = ""
                end.unicodeScalars.append(contentsOf: scalars)
                return end.databaseValue
            }
        }
        return Data().databaseValue
    }

    /// The key of an object or an ID; nil for anything else.
    static func key(of constant: PredicateValue) -> ObjectKey? {
        switch constant {
        case .object(let object as NSManagedObject): object.key
        case .other(let other): NSManagedObjectID.id(other)?.key
        case .object(let id as NSManagedObjectID): id.key
        default: nil
        }
    }

    /// The entity of an object or an ID; nil for anything else.
    static func entity(of constant: PredicateValue) -> NSEntityDescription? {
        switch constant {
        case .object(let object as NSManagedObject): object.entity
        case .other(let other): NSManagedObjectID.id(other)?.entity
        case .object(let id as NSManagedObjectID): id.entity
        default: nil
        }
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
