import Coral

/// A value as text. Equal values have equal texts in every process: dictionaries and sets are sorted by the texts of
/// their elements.
enum ValueContents {
    /// The text of an attribute's value. For other classes it is the content of the object's keyed archive, or its
    /// description if it cannot be archived.
    static func text(_ value: Any) -> String {
        switch value {
        case let text as String: text
        case let data as Data: data.base64EncodedString()
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let url as URL: url.absoluteString
        case let uuid as UUID: uuid.uuidString
        case let number as NSNumber: "\(number)"
        case let values as [Any]: list(values.map(quoted))
        case let values as NSOrderedSet: list(values.array.map(quoted))
        case let values as Set<AnyHashable>: set(values.map { quoted($0.base) })
        case let values as NSSet: set(values.allObjects.map(quoted))
        case let values as [AnyHashable: Any]: dictionary(values.map { ($0.base, $1) })
        case let object as NSObject: archived(object) ?? "\(object)"
        default: "\(value)"
        }
    }

    /// The text of an element. Strings are quoted, so that they differ from other values with the same text.
    private static func quoted(_ value: Any) -> String {
        (value as? String).map { $0.debugDescription } ?? text(value)
    }

    private static func list(_ texts: [String]) -> String { "[" + texts.joined(separator: ", ") + "]" }
    private static func set(_ texts: [String]) -> String { "{" + texts.sorted().joined(separator: ", ") + "}" }

    private static func dictionary(_ pairs: [(Any, Any)]) -> String {
        let texts = pairs.map { "\(quoted($0)): \(quoted($1))" }
        return "[" + (texts.isEmpty ? ":" : texts.sorted().joined(separator: ", ")) + "]"
    }

    /// The decoded content of an object's archive. The bytes cannot be compared, because archivers write keys in any
    /// order.
    private static func archived(_ object: NSObject) -> String? {
        guard object is any NSCoding,
            let data = try? NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
        else { return nil }
        return ReadableValue(archive: data).map { "\($0)" }
    }
}
