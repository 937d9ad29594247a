import Foundation
import KeyedArchives

/// A value in a model: a default, a minimum or a maximum.
public enum ModelValue: Sendable, Hashable {
    case integer(Int64)
    case decimal(Decimal)
    /// The value of a Double or Float attribute.
    case double(Double)
    case string(String)
    case boolean(Bool)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    /// The absolute text of a URI.
    case uri(String)
    /// The archived value of a transformable or composite attribute, of any class.
    case archived(ReadableValue)
}

extension ModelValue {
    /// The value as a Foundation value, for constants of predicates. Archived values have none.
    public var foundationValue: Any? {
        switch self {
        case .integer(let value): value
        case .decimal(let value): value
        case .double(let value): value
        case .string(let value): value
        case .boolean(let value): value
        case .date(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .uri(let value): URL(string: value)
        case .archived: nil
        }
    }

    /// The constant that a limit is compared with: for a date the seconds since 2001.
    var limit: Any? {
        if case .date(let date) = self { date.timeIntervalSinceReferenceDate } else { foundationValue }
    }
}
