import Foundation

/// An object with key-value coding of its own.
package protocol KeyValueCoded: AnyObject {
    func value(forKey key: String) -> Any?
    func value(forKeyPath keyPath: String) -> Any?
    func setValue(_ value: Any?, forKey key: String)
    func setValue(_ value: Any?, forKeyPath keyPath: String)
}

/// Reads and sets keys of objects and collections, step by step, as key-value coding does: the value of a key of a set is a set, that of
/// an ordered set an ordered set. The key paths of predicates, by contrast, collect all values in one list.
package enum KeyedValue {
    package static func value(of root: Any, at keyPath: String) -> Any? {
        var value: Any? = root
        var path = Substring(keyPath)
        while let current = value, !path.isEmpty {
            if path.first == "@" { return collectionOperator(path, of: current) }
            let key = path.prefix { $0 != "." }
            value = self.value(of: current, forKey: String(key))
            path = path.dropFirst(key.count + 1)
        }
        return value
    }

    /// The values of all elements of a collection.
    package static func values(of elements: some Sequence<Any>, forKey key: String) -> [Any] {
        elements.map { value(of: $0, forKey: key) ?? NSNull() }
    }

    /// The set of values without null.
    package static func set(of values: [Any]) -> NSSet {
        NSSet(array: values.filter { !($0 is NSNull) }.map(MemberDecimal.hashable))
    }

    package static func orderedSet(of values: [Any]) -> NSOrderedSet {
        // One by one, because the array of a set that is made of an array has its duplicates.
        let set = NSMutableOrderedSet()
        for value in values { set.add(MemberDecimal.hashable(value)) }
        return NSOrderedSet(orderedSet: set)
    }

    /// Sets the value at the end of a path. Through a collection it is set for each element; nil is skipped.
    package static func set(_ value: Any?, of owner: Any, at keyPath: String) {
        switch owner {
        case is NSNull: break
        case let object as any KeyValueCoded: object.setValue(value, forKeyPath: keyPath)
        case let dictionary as NSMutableDictionary where !keyPath.contains("."): dictionary[keyPath] = value
        default:
            guard let elements = elements(of: owner) else {
                preconditionFailure("\(type(of: owner)) has no property \(keyPath) that can be set.")
            }
            for element in elements { set(value, of: element, at: keyPath) }
        }
    }

    /// Inserts a value into a dictionary of dictionaries, which are created where they are missing.
    package static func insert(_ value: Any, into dictionary: inout [String: Any], path: ArraySlice<String>) {
        guard let first = path.first else { return }
        guard path.count > 1 else { return dictionary[first] = value }
        var nested = dictionary[first] as? [String: Any] ?? [:]
        insert(value, into: &nested, path: path.dropFirst())
        dictionary[first] = nested
    }

    private static func value(of value: Any, forKey key: String) -> Any? {
        switch value {
        case let object as any KeyValueCoded: return object.value(forKey: key)
        case let dictionary as NSDictionary: return dictionary[key]
        case let dictionary as [String: Any]: return dictionary[key]
        case let set as NSOrderedSet: return orderedSet(of: values(of: set, forKey: key))
        case is NSNull: return nil
        default:
            guard let elements = elements(of: value) else {
                return NSExpression(forKeyPath: key).expressionValue(with: value, context: nil)
            }
            let values = values(of: elements, forKey: key)
            return value is NSSet || value is Set<AnyHashable> ? set(of: values) : NSArray(array: values)
        }
    }

    /// The elements of a collection; nil for another value.
    private static func elements(of value: Any) -> [Any]? {
        switch value {
        case let array as NSArray: array.map { $0 }
        case let array as [Any]: array
        case let set as NSSet: set.allObjects
        case let set as Set<AnyHashable>: set.map(\.base)
        case let set as NSOrderedSet: set.array
        default: nil
        }
    }

    private static func collectionOperator(_ path: Substring, of value: Any) -> Any? {
        let average = "@avg."
        guard path.hasPrefix(average) else {
            return NSExpression(forKeyPath: String(path)).expressionValue(with: value, context: nil)
        }
        // Key-value coding counts nil as 0, unlike SQL and the function `average:`.
        let all = NSExpression(forKeyPath: "@unionOfObjects." + path.dropFirst(average.count))
        let values = all.expressionValue(with: value, context: nil) as? [Any?] ?? []
        let counted = NSExpression(forConstantValue: values.map { $0 ?? 0 })
        return NSExpression(forFunction: "average:", arguments: [counted]).expressionValue(with: nil, context: nil)
    }
}

/// A decimal number that can be a member of a set: the hash of Foundation's own never returns off Apple's platforms.
private final class MemberDecimal: NSDecimalNumber, @unchecked Sendable {  // because it is immutable
    static func hashable(_ value: Any) -> Any {
        (value as? NSDecimalNumber).map { MemberDecimal(decimal: $0.decimalValue) } ?? value
    }

    override init(decimal: Decimal) { super.init(decimal: decimal) }

    required init(integerLiteral value: Int) { super.init(decimal: Decimal(value)) }

    required init(floatLiteral value: Double) { super.init(decimal: Decimal(value)) }

    required init(booleanLiteral value: Bool) { super.init(decimal: value ? 1 : 0) }

    required init(bytes buffer: UnsafeRawPointer, objCType type: UnsafePointer<CChar>) {
        super.init(decimal: NSNumber(bytes: buffer, objCType: type).decimalValue)
    }

    required init?(coder: NSCoder) { super.init(coder: coder) }

    override var hash: Int { decimalValue.hashValue }

    override func isEqual(_ value: Any?) -> Bool {
        (value as? NSNumber).map { $0.decimalValue == decimalValue } ?? false
    }
}

/// The array of an object's property as a mutable array: each change sets the property to an array with the change, so that the object
/// notices it.
package final class KeyedArray: NSMutableArray {
    private var owner: (any KeyValueCoded)?
    private var key = ""

    package convenience init(owner: any KeyValueCoded, key: String) {
        self.init(capacity: 0)
        self.owner = owner
        self.key = key
    }

    package override init(capacity numItems: Int) { super.init(capacity: numItems) }

    package required init(objects: UnsafePointer<AnyObject>?, count: Int) { super.init(objects: objects, count: count) }

    package required init(arrayLiteral elements: Any...) { super.init(capacity: elements.count) }

    package required init?(coder: NSCoder) { nil }

    private var elements: [Any] {
        get {
            switch owner?.value(forKey: key) {
            case let array as NSArray: (0..<array.count).map { array.object(at: $0) }
            case let array as [Any]: array
            default: []
            }
        }
        set { owner?.setValue(newValue, forKey: key) }
    }

    package override var count: Int { elements.count }

    package override func object(at index: Int) -> Any { elements[index] }

    package override func add(_ object: Any) { elements.append(object) }

    package override func insert(_ object: Any, at index: Int) { elements.insert(object, at: index) }

    package override func removeObject(at index: Int) { elements.remove(at: index) }

    package override func removeLastObject() { elements.removeLast() }

    package override func replaceObject(at index: Int, with object: Any) { elements[index] = object }
}
