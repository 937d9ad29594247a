import Foundation

/// The keys of strings, numbers, dates and similar values, named as Foundation's properties.
enum BuiltInProperty {
    /// The value of a key; nil when a value of this kind has no such key.
    static func value(of value: PredicateValue, forKey key: String) throws -> PredicateValue? {
        switch value {
        case .string(let text): string(text, key)
        case .bool, .integer, .double, .decimal: try number(value, key)
        case .date(let date): self.date(date, key)
        case .data(let data): key == "length" ? .integer(Int64(data.count)) : nil
        case .uuid(let uuid): key == "UUIDString" ? .string(uuid.uuidString) : nil
        case .url(let url): self.url(url, key)
        default: nil
        }
    }

    private static func string(_ text: String, _ key: String) -> PredicateValue? {
        switch key {
        case "length": .integer(Int64(text.utf16.count))
        case "uppercaseString": .string(text.uppercased())
        case "lowercaseString": .string(text.lowercased())
        case "capitalizedString": .string(text.capitalized)
        case "intValue", "integerValue", "longLongValue": .integer((text as NSString).longLongValue)
        case "doubleValue", "floatValue": .double((text as NSString).doubleValue)
        case "boolValue": .bool((text as NSString).boolValue)
        case "lastPathComponent": .string((text as NSString).lastPathComponent)
        case "pathExtension": .string((text as NSString).pathExtension)
        case "description": .string(text)
        default: nil
        }
    }

    private static func number(_ value: PredicateValue, _ key: String) throws -> PredicateValue? {
        switch key {
        case "intValue", "integerValue", "longLongValue":
            switch value {
            case .integer: return value
            default:
                let whole = try Arithmetic.double(value).rounded(.towardZero)
                return Int64(exactly: whole).map(PredicateValue.integer) ?? .double(whole)
            }
        case "doubleValue", "floatValue": return .double(try Arithmetic.double(value))
        case "boolValue": return .bool(try Arithmetic.double(value) != 0)
        case "stringValue", "description": return .string(value.predicateFormat)
        default: return nil
        }
    }

    private static func date(_ date: Date, _ key: String) -> PredicateValue? {
        switch key {
        case "timeIntervalSinceReferenceDate": .double(date.timeIntervalSinceReferenceDate)
        case "timeIntervalSince1970": .double(date.timeIntervalSince1970)
        case "timeIntervalSinceNow": .double(date.timeIntervalSinceNow)
        default: nil
        }
    }

    private static func url(_ url: URL, _ key: String) -> PredicateValue? {
        switch key {
        case "absoluteString": .string(url.absoluteString)
        case "scheme": PredicateValue(url.scheme)
        case "host": PredicateValue(url.host)
        case "path": .string(url.path)
        case "query": PredicateValue(url.query)
        case "fragment": PredicateValue(url.fragment)
        case "lastPathComponent": .string(url.lastPathComponent)
        case "pathExtension": .string(url.pathExtension)
        default: nil
        }
    }
}
