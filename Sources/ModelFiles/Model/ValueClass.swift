import Foundation

/// The class that a model declares for the values of a transformable attribute: a class by its name, or a Swift collection
/// such as `[String: Int]`, whose elements are checked too.
///
/// A transformer returns what the bytes contain, whatever the attribute declares. A property of the declared type could not
/// return a value of another class.
package indirect enum ValueClass {
    /// Not checked: a protocol, the root class, or a type that this process does not have.
    case any
    case object(AnyClass)
    /// A type whose values are cast from Foundation's.
    case scalar(accepts: (Any) -> Bool)
    case array(ValueClass)
    case set(ValueClass)
    case dictionary(ValueClass, ValueClass)

    /// - Parameters:
    ///   - name: The declared name, such as `NSMutableArray`, `Notes.Palette` or `[String]`.
    ///   - lookUp: The class of a name, if the process has exactly one.
    package init(_ name: String, lookUp: (String) -> AnyClass?) {
        let text = name.trimmingCharacters(in: .whitespaces)
        func inner(_ prefix: String, _ suffix: String) -> Substring? {
            guard text.hasPrefix(prefix), text.hasSuffix(suffix), text.count > prefix.count else { return nil }
            return text.dropFirst(prefix.count).dropLast(suffix.count)
        }
        func element(_ text: some StringProtocol) -> ValueClass { ValueClass(String(text), lookUp: lookUp) }
        if let wrapped = inner("", "?") ?? inner("Optional<", ">") {
            self = element(wrapped)
        } else if let content = inner("[", "]") ?? inner("Dictionary<", ">") {
            let parts = ValueClass.parts(content)
            self = parts.count == 2 ? .dictionary(element(parts[0]), element(parts[1])) : .array(element(content))
        } else if let content = inner("Array<", ">") {
            self = .array(element(content))
        } else if let content = inner("Set<", ">") {
            self = .set(element(content))
        } else if let accepts = ValueClass.scalars[text] {
            self = .scalar(accepts: accepts)
        } else if text == "NSObject" {
            self = .any
        } else {
            self = lookUp(text).map { .object($0) } ?? .any
        }
    }

    /// The key and the value of a dictionary's type; one part for an element.
    private static func parts(_ content: Substring) -> [Substring] {
        var depth = 0
        for index in content.indices {
            switch content[index] {
            case "[", "<": depth += 1
            case "]", ">": depth -= 1
            case ":" where depth == 0, "," where depth == 0:
                return [content[..<index], content[content.index(after: index)...]]
            default: break
            }
        }
        return [content]
    }

    private static let scalars: [String: @Sendable (Any) -> Bool] = [
        "String": { $0 is String }, "Bool": { $0 is Bool }, "Int": { $0 is Int }, "Int64": { $0 is Int64 },
        "Int32": { $0 is Int32 }, "Int16": { $0 is Int16 }, "UInt": { $0 is UInt }, "Double": { $0 is Double },
        "Float": { $0 is Float }, "Date": { $0 is Date }, "Data": { $0 is Data }, "URL": { $0 is URL },
        "UUID": { $0 is UUID },
    ]

    /// Whether a value is of the class. Cost: one step for each element of a Swift collection.
    package func accepts(_ value: Any) -> Bool {
        switch self {
        case .any: true
        case .object(let wanted): ((value as AnyObject) as? NSObject)?.isKind(of: wanted) ?? true
        case .scalar(let accepts): accepts(value)
        case .array(let element): (value as? [Any])?.allSatisfy(element.accepts) ?? false
        case .set(let element): (value as? Set<AnyHashable>)?.allSatisfy { element.accepts($0.base) } ?? false
        case .dictionary(let key, let element):
            (value as? [AnyHashable: Any])?.allSatisfy { key.accepts($0.key.base) && element.accepts($0.value) }
                ?? false
        }
    }

    /// A value of the class: the value itself, or its mutable copy. Nil if neither is of the class.
    package func value(from value: Any) -> Any? {
        if accepts(value) { return value }
        guard case .object = self, let copy = ((value as AnyObject) as? any NSMutableCopying)?.mutableCopy(with: nil)
        else { return nil }
        return accepts(copy) ? copy : nil
    }
}
