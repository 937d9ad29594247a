import Coral

/// A value as text, so that equal values have equal texts, in every process: dictionaries and sets are sorted by the texts of
/// what they hold.
enum ValueContents {
    /// The text of an attribute's value. Of an object of any other class it is that of its keyed archive, where it can be
    /// archived, else its description.
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

    /// The text of an element, in which a text is told from what only looks like it.
    private static func quoted(_ value: Any) -> String {
        (value as? String).map { $0.debugDescription } ?? text(value)
    }

    private static func list(_ texts: [String]) -> String { "[" + texts.joined(separator: ", ") + "]" }
    private static func set(_ texts: [String]) -> String { "{" + texts.sorted().joined(separator: ", ") + "}" }

    private static func dictionary(_ pairs: [(Any, Any)]) -> String {
        let texts = pairs.map { "\(quoted($0)): \(quoted($1))" }
        return "[" + (texts.isEmpty ? ":" : texts.sorted().joined(separator: ", ")) + "]"
    }

    /// The archive of an object by its content, not by its bytes: archivers put keys in any order.
    private static func archived(_ object: NSObject) -> String? {
        guard object is any NSCoding,
            let data = try? NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
        else { return nil }
        return ReadableValue(archive: data).map { "\($0)" }
    }
}
