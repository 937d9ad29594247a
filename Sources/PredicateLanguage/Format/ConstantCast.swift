import Foundation

/// The casts that represent constants. The language has no literals for dates, UUIDs and similar values, so they are
/// written as a cast of a number or a string, and parsed as the constant itself.
enum ConstantCast {
    /// The constant that a cast with these arguments represents; nil when the cast is evaluated at run time.
    static func value(of arguments: [ExpressionNode]) -> Any? {
        guard arguments.count == 2, case .constant(let constant) = arguments[0],
            case .constant(let type) = arguments[1], let type = type.value as? String
        else { return nil }
        switch (PredicateValue(constant.value), type) {
        case (.integer(let seconds), "NSDate"): return Date(timeIntervalSinceReferenceDate: Double(seconds))
        case (.double(let seconds), "NSDate"): return Date(timeIntervalSinceReferenceDate: seconds)
        case (.string(let text), "NSUUID"): return UUID(uuidString: text)
        case (.string(let text), "NSURL"): return URL(string: text)
        case (.string(let text), "NSData"): return Data(base64Encoded: text)
        case (.string("nan"), "NSNumber"): return Double.nan
        case (.string("inf"), "NSNumber"): return Double.infinity
        case (.string("-inf"), "NSNumber"): return -Double.infinity
        default: return nil
        }
    }

    /// The text of a value as a cast.
    static func text(_ value: String, as type: String) -> String {
        "CAST(\(value), \"\(type)\")"
    }
}
