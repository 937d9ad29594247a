// Key-value coding of Foundation's collections, which it has on Apple's platforms only: `(note.tags as NSSet).value(forKey: "name")`,
// and key paths of dictionaries, by which importers read documents.
import Foundation
import FoundationAdditions

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
    public func setValue(_ value: Any?, forKey key: String) { KeyedValue.set(value, of: self, at: key) }
}

extension NSSet {
    /// The values of a key of all elements, except nil.
    public func value(forKey key: String) -> Any {
        KeyedValue.set(of: KeyedValue.values(of: self, forKey: key))
    }

    /// The value at a path of keys, which begins at the elements or with a collection operator.
    public func value(forKeyPath keyPath: String) -> Any? { KeyedValue.value(of: self, at: keyPath) }

    /// Sets a property of all elements.
    public func setValue(_ value: Any?, forKey key: String) { KeyedValue.set(value, of: self, at: key) }
}

extension NSOrderedSet {
    /// The values of a key of all elements, each once; `NSNull` for nil.
    public func value(forKey key: String) -> Any {
        KeyedValue.orderedSet(of: KeyedValue.values(of: self, forKey: key))
    }

    /// The value at a path of keys, which begins at the elements or with a collection operator.
    public func value(forKeyPath keyPath: String) -> Any? { KeyedValue.value(of: self, at: keyPath) }

    /// Sets a property of all elements.
    public func setValue(_ value: Any?, forKey key: String) { KeyedValue.set(value, of: self, at: key) }
}
