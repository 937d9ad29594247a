import Foundation

/// `CAST(value, "type")` at evaluation.
enum ValueCast {
    /// The value converted to another type; nil if it cannot be converted.
    static func value(_ value: PredicateValue, as type: String) throws -> PredicateValue {
        if value.isNull { return .null }
        switch type {
        case "NSString": return .string(text(of: value))
        case "NSNumber": return try number(value)
        case "NSDecimalNumber":
            return Decimal(string: text(of: value)).map(PredicateValue.decimal) ?? .null
        case "NSDate":
            switch value {
            case .date: return value
            case .string(let text): return Double(text).map(date) ?? .null
            default: return date(try Arithmetic.double(value))
            }
        case "NSUUID": return UUID(uuidString: text(of: value)).map(PredicateValue.uuid) ?? .null
        case "NSURL": return URL(string: text(of: value)).map(PredicateValue.url) ?? .null
        case "NSData": return Data(base64Encoded: text(of: value)).map(PredicateValue.data) ?? .null
        default:
            throw PredicateEvaluationError(.unknownFunction, "Values cannot be cast to “\(type)”.")
        }
    }

    private static func date(_ seconds: Double) -> PredicateValue {
        .date(Date(timeIntervalSinceReferenceDate: seconds))
    }

    private static func number(_ value: PredicateValue) throws -> PredicateValue {
        switch value {
        case .date(let date): return .double(date.timeIntervalSinceReferenceDate)
        case .string(let text):
            if let whole = Int64(text) { return .integer(whole) }
            return Double(text).map(PredicateValue.double) ?? .null
        default: return try Arithmetic.checked(value)
        }
    }

    private static func text(of value: PredicateValue) -> String {
        switch value {
        case .string(let text): text
        case .uuid(let uuid): uuid.uuidString
        case .url(let url): url.absoluteString
        case .data(let data): data.base64EncodedString()
        case .date(let date): "\(date)"
        default: value.predicateFormat
        }
    }
}
