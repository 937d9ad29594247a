import Foundation

// `@unchecked Sendable` because the value is set once and only read; objects inside it are the care of who put them.

/// A value that is part of a predicate: a number, a string, a date, a collection, an object of the engine above.
public struct ConstantValue: @unchecked Sendable {
    /// The value; nil for `nil`. `NSNull` is taken as nil, and an optional inside `Any` is unwrapped.
    public let value: Any?

    /// Holds a value.
    public init(_ value: Any?) {
        self.value = PredicateValue.unwrap(value)
    }
}

extension ConstantValue: Equatable {
    /// Numbers are compared by value, everything else as ``PredicateValue`` does.
    public static func == (left: ConstantValue, right: ConstantValue) -> Bool {
        PredicateValue(left.value) == PredicateValue(right.value)
    }
}

extension ConstantValue {
    /// The elements when the value is an array or a set, otherwise nil. A set's come in no particular order.
    public var elements: [ConstantValue]? {
        guard case .collection(let elements, _) = PredicateValue(value) else { return nil }
        return elements.map { ConstantValue($0.value) }
    }
}
