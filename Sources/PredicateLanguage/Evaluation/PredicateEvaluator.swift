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
