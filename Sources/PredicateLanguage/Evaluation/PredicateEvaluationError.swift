/// The reason why a predicate or an expression cannot be evaluated for an object. Foundation raises an exception in
/// these cases.
public struct PredicateEvaluationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The operator or function does not accept values of this kind.
        case typeMismatch
        /// The object has no such key.
        case unknownKey
        /// A variable has no value.
        case unboundVariable
        /// The function or method does not exist.
        case unknownFunction
        /// The pattern of `MATCHES` is not a regular expression.
        case badPattern
        /// An integer was divided by zero, or an exact result is too large.
        case arithmetic
        /// The tree is deeper than ``PredicateEvaluator/depthLimit``.
        case tooDeep
        /// A key path has more values than the limit, or a regular expression takes too many steps.
        case tooLarge
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the error, in one sentence.
    public let message: String
    /// The text of the comparison or expression with the error; empty if it is not known.
    public var place: String

    /// Creates an error.
    public init(_ code: Code, _ message: String, place: String = "") {
        self.code = code
        self.message = message
        self.place = place
    }

    public var description: String {
        place.isEmpty ? message : "\(message) In: \(place)"
    }
}
