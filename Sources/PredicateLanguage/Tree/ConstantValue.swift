import Foundation

// `@unchecked Sendable` because the value is set once and only read; the caller is responsible for objects inside it.

/// A value that is part of a predicate: a number, a string, a date, a collection, or an object of a module above this
/// one.
public struct ConstantValue: @unchecked Sendable {
    /// The value; nil for `nil` and `NSNull`. Optionals inside `Any` are unwrapped.
    public let value: Any?
    /// Whether the value was given as `NSNull`, or as an optional without a value inside `Any`, which Objective-C does not
    /// distinguish. It equals `nil`, and is printed as `<null>`.
    public let isNullObject: Bool

    /// Creates a constant.
    public init(_ value: Any?) {
        self.value = PredicateValue.unwrap(value)
        isNullObject = value != nil && self.value == nil
    }
}

extension ConstantValue: Equatable {
    /// Equality as ``PredicateValue`` defines it: numbers are compared by value.
    public static func == (left: ConstantValue, right: ConstantValue) -> Bool {
        PredicateValue(left.value) == PredicateValue(right.value)
    }
}

extension ConstantValue {
    /// The elements when the value is an array or a set, otherwise nil. Those of a set have no defined order.
    public var elements: [ConstantValue]? {
        guard case .collection(let elements, _) = PredicateValue(value) else { return nil }
        return elements.map { ConstantValue($0.value) }
    }
}
