// Key-value coding of Foundation's collections, which it has on Apple's platforms only: `(note.tags as NSSet).value(forKey: "name")`,
// and key paths of dictionaries, by which importers read documents.
import Foundation
import ManagedObjects

extension NSDictionary {
    /// The value at a path of keys; nil if one is missing. After a collection the next key is read of its elements, and collection
    /// operators such as `@count` are those of `NSExpression`.
    public func value(forKeyPath keyPath: String) -> Any? { KeyedValue.value(of: self, at: keyPath) }
}

extension NSArray {
    /// The values of a key of all elements; `NSNull` for nil.
    public func value(forKey key: String) -> Any { KeyedValue.values(of: self, forKey: key) as NSArray }

    /// The value at a path of keys, which begins at the elements or with a collection operator.
    public func value(forKeyPath keyPath: String) -> Any? { KeyedValue.value(of: self, at: keyPath) }

    /// Sets a property of all elements.
    public func setValue(_ value: Any?, forKey key: String) { KeyedValue.set(value, of: self, forKey: key) }
}

extension NSSet {
    /// The values of a key of all elements, except nil.
    public func value(forKey key: String) -> Any {
        NSSet(array: KeyedValue.values(of: self, forKey: key).filter { !($0 is NSNull) })
    }

    /// The value at a path of keys, which begins at the elements or with a collection operator.
    public func value(forKeyPath keyPath: String) -> Any? { KeyedValue.value(of: self, at: keyPath) }

    /// Sets a property of all elements.
    public func setValue(_ value: Any?, forKey key: String) { KeyedValue.set(value, of: self, forKey: key) }
}

extension NSOrderedSet {
    /// The values of a key of all elements, each once; `NSNull` for nil.
    public func value(forKey key: String) -> Any { NSOrderedSet(array: KeyedValue.values(of: self, forKey: key)) }

    /// The value at a path of keys, which begins at the elements or with a collection operator.
    public func value(forKeyPath keyPath: String) -> Any? { KeyedValue.value(of: self, at: keyPath) }

    /// Sets a property of all elements.
    public func setValue(_ value: Any?, forKey key: String) { KeyedValue.set(value, of: self, forKey: key) }
}

/// Reads and sets keys of objects and collections.
private enum KeyedValue {
    static func value(of root: Any, at keyPath: String) -> Any? {
        var value: Any? = root
        var path = Substring(keyPath)
        while let current = value, !path.isEmpty {
            if path.first == "@" {
                return NSExpression(forKeyPath: String(path)).expressionValue(with: current, context: nil)
            }
            let key = path.prefix { $0 != "." }
            value = self.value(of: current, forKey: String(key))
            path = path.dropFirst(key.count + 1)
        }
        return value
    }

    /// The values of all elements of a collection.
    static func values(of elements: some Sequence<Any>, forKey key: String) -> [Any] {
        elements.map { value(of: $0, forKey: key) ?? NSNull() }
    }

    static func set(_ value: Any?, of elements: some Sequence<Any>, forKey key: String) {
        for element in elements {
            switch element {
            case let object as NSManagedObject: object.setValue(value, forKey: key)
            case let dictionary as NSMutableDictionary: dictionary[key] = value
            default: preconditionFailure("\(type(of: element)) has no property \(key) that can be set.")
            }
        }
    }

    private static func value(of value: Any, forKey key: String) -> Any? {
        switch value {
        case let object as NSManagedObject: object.value(forKey: key)
        case let dictionary as NSDictionary: dictionary.value(forKey: key)
        case let dictionary as [String: Any]: dictionary[key]
        case let array as NSArray: array.value(forKey: key)
        case let array as [Any]: (array as NSArray).value(forKey: key)
        case let set as NSSet: set.value(forKey: key)
        case let set as Set<AnyHashable>: (set as NSSet).value(forKey: key)
        case let set as NSOrderedSet: set.value(forKey: key)
        case is NSNull: nil
        default: NSExpression(forKeyPath: key).expressionValue(with: value, context: nil)
        }
    }
}
