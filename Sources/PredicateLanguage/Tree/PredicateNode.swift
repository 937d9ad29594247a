import Foundation

/// A predicate as a plain value: the content of an `NSPredicate` and its subclasses.
///
/// Equality is structural; numbers compare by value (`1` equals `1.0` equals `true`) and a constant array equals the
/// aggregate of its elements, because their printed texts are equal.
public indirect enum PredicateNode: Sendable {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
    /// Two expressions and the operator between them.
    case comparison(ComparisonNode)
    /// True when every part is true; true without parts.
    case and([PredicateNode])
    /// True when at least one part is true; false without parts.
    case or([PredicateNode])
    /// The negation of its part.
    case not(PredicateNode)
    /// A predicate that only a module above this one can evaluate, such as a block.
    case opaque(any OpaquePredicate)
}

/// A predicate that is not part of the language: the conforming type evaluates and prints it.
public protocol OpaquePredicate: Sendable {
    /// The text of the predicate. The parser need not accept it.
    var predicateFormat: String { get }

    /// Whether the predicate holds for `object`.
    func evaluate(with object: Any?, variables: [String: Any?]) throws -> Bool

    /// Whether `other` is the same predicate.
    func isEqual(to other: any OpaquePredicate) -> Bool
}

extension PredicateNode: Equatable {
    public static func == (left: PredicateNode, right: PredicateNode) -> Bool {
        switch (left, right) {
        case (.constant(let left), .constant(let right)): left == right
        case (.comparison(let left), .comparison(let right)): left == right
        case (.and(let left), .and(let right)): left == right
        case (.or(let left), .or(let right)): left == right
        case (.not(let left), .not(let right)): left == right
        case (.opaque(let left), .opaque(let right)): left.isEqual(to: right)
        default: false
        }
    }
}

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
