// `@unchecked Sendable` because it is immutable after its creation; objects among the constants are only read.

/// A predicate compiled for repeated evaluation: patterns are compiled and constants converted once.
public struct PredicateEvaluator: @unchecked Sendable {
    /// The maximum depth of a tree. It is greater than the parser's limit, so that code may wrap a parsed predicate in
    /// others many times, and small enough for the stack.
    public static let depthLimit = 1000

    private let test: PredicateCompiler.Test

    /// Compiles a predicate. Cost: proportional to the size of the tree.
    ///
    /// - Throws: ``PredicateEvaluationError`` for an invalid pattern, an unknown function, or a tree that is deeper
    ///   than ``depthLimit``.
    public init(_ predicate: PredicateNode) throws {
        var compiler = PredicateCompiler()
        test = try compiler.compile(predicate)
    }

    /// Whether the predicate holds for a subject.
    ///
    /// - Parameters:
    ///   - subject: the value of `SELF`: a ``PredicateSubject``, or any value.
    ///   - variables: the values of `$name`s, by their names without the dollar sign.
    /// - Throws: ``PredicateEvaluationError`` if Foundation would raise an exception, and the errors of the subject.
    public func evaluate(_ subject: Any?, variables: [String: Any?] = [:]) throws -> Bool {
        try test(EvaluationScope(subject: PredicateValue(subject), variables: variables))
    }

    /// Whether the predicate holds for a subject, without the dynamic casts of the method above.
    public func evaluate(_ subject: any PredicateSubject, variables: [String: Any?] = [:]) throws -> Bool {
        try test(EvaluationScope(subject: .object(subject), variables: variables))
    }

    /// The values for which the predicate holds, in their order.
    public func filter<Subject>(_ subjects: [Subject], variables: [String: Any?] = [:]) throws -> [Subject] {
        try subjects.filter { try evaluate($0 as Any, variables: variables) }
    }

    /// The subjects for which the predicate holds, in their order.
    public func filter<Subject: PredicateSubject>(
        _ subjects: [Subject], variables: [String: Any?] = [:]
    ) throws -> [Subject] {
        try subjects.filter { try evaluate($0, variables: variables) }
    }
}

/// The values of `SELF` and of variables during an evaluation.
struct EvaluationScope {
    var subject: PredicateValue
    var variables: [String: Any?]

    /// The variables as passed to code outside this module: those of subqueries are converted back to Swift values.
    var plainVariables: [String: Any?] {
        variables.mapValues { value in
            if let reduced = value as? PredicateValue { reduced.value } else { value }
        }
    }
}

// `@unchecked Sendable` because it is immutable after its creation; objects among the constants are only read.

/// An expression compiled for repeated evaluation.
public struct ExpressionEvaluator: @unchecked Sendable {
    private let read: PredicateCompiler.Read

    /// Compiles an expression.
    ///
    /// - Throws: ``PredicateEvaluationError``, as ``PredicateEvaluator/init(_:)`` does.
    public init(_ expression: ExpressionNode) throws {
        var compiler = PredicateCompiler()
        read = try compiler.compile(expression)
    }

    /// The value of the expression for a subject: `Int64` for whole numbers, arrays for collections.
    ///
    /// - Throws: ``PredicateEvaluationError``, and the errors of the subject.
    public func value(for subject: Any?, variables: [String: Any?] = [:]) throws -> Any? {
        try predicateValue(for: subject, variables: variables).value
    }

    /// The value of the expression for a subject, as a ``PredicateValue``.
    ///
    /// - Throws: ``PredicateEvaluationError``, and the errors of the subject.
    public func predicateValue(for subject: Any?, variables: [String: Any?] = [:]) throws -> PredicateValue {
        try read(EvaluationScope(subject: PredicateValue(subject), variables: variables))
    }

    /// The value of the expression for a subject, without the dynamic casts of the method above.
    public func predicateValue(
        for subject: any PredicateSubject, variables: [String: Any?] = [:]
    ) throws -> PredicateValue {
        try read(EvaluationScope(subject: .object(subject), variables: variables))
    }
}

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
