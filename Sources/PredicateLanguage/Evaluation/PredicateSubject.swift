import Foundation

/// An object whose keys a predicate can read. Managed objects and dictionaries conform.
public protocol PredicateSubject {
    /// The value of an attribute or a relationship: nil (or `NSNull`), a number, a string, a date, another subject, a
    /// collection of these. Throws when there is no such key. A subject that has typed values may return a
    /// ``PredicateValue``, which saves dynamic casts, in particular for collections of subjects.
    func predicateValue(forKey key: String) throws -> Any?

    /// The value of a key in the form that predicates use. By default ``predicateValue(forKey:)`` converted; a subject with typed
    /// values returns them without a box and without dynamic casts.
    func comparableValue(forKey key: String) throws -> PredicateValue

    /// The identity of this subject in comparisons for equality and in collections. Two subjects are equal when their
    /// identities are. By default the identity of a class instance is its address and that of a hashable value the
    /// value itself.
    var predicateIdentity: AnyHashable? { get }

    /// The result of a method call: `FUNCTION(subject, "selector", …)` and custom selectors. By default a method
    /// without arguments is a key, and any other an error.
    func predicateValue(calling selector: String, with arguments: [Any?]) throws -> Any?
}

extension PredicateSubject {
    public func comparableValue(forKey key: String) throws -> PredicateValue {
        PredicateValue(try predicateValue(forKey: key))
    }

    public var predicateIdentity: AnyHashable? {
        if let hashable = self as? any Hashable { return AnyHashable(hashable) }
        return type(of: self) is AnyClass ? AnyHashable(ObjectIdentifier(self as AnyObject)) : nil
    }

    public func predicateValue(calling selector: String, with arguments: [Any?]) throws -> Any? {
        if arguments.isEmpty { return try predicateValue(forKey: selector) }
        throw PredicateEvaluationError(.unknownFunction, "\(type(of: self)) has no method \(selector) for predicates.")
    }
}

extension Dictionary: PredicateSubject {
    /// The value of a key; nil when the dictionary has no such key or its keys are not strings.
    public func predicateValue(forKey key: String) throws -> Any? {
        (key as? Key).flatMap { self[$0] }
    }
}

extension NSDictionary: PredicateSubject {
    /// The value of a key; nil when the dictionary has no such key.
    public func predicateValue(forKey key: String) throws -> Any? {
        object(forKey: key)
    }
}

/// The value of the second argument of `FETCH(request, context, countOnly)`.
package protocol FetchingContext {
    /// The objects that a request returns, or their number. Throws if the value is not a fetch request that this context can
    /// execute.
    func predicateValue(ofRequest request: Any?, countOnly: Bool) throws -> Any?
}

/// A value that predicates can compare with others of its kind by `<` and `>`.
public protocol PredicateRanked {
    /// The number by which the values are ordered; nil for a value without an order.
    var predicateRank: Int64? { get }
}
