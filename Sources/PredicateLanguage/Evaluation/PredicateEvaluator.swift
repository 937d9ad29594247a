// `@unchecked Sendable` because nothing in it changes once it is made; objects among the constants are only asked.

/// A predicate made ready to be evaluated many times: patterns are compiled and constants reduced once.
public struct PredicateEvaluator: @unchecked Sendable {
    /// How many nodes may lie above each other in a tree. More than the parser ever makes: code that wraps a predicate
    /// in another again and again gets far with it, and the stack still holds.
    public static let depthLimit = 1000

    private let test: PredicateCompiler.Test

    /// Makes a predicate ready. Time grows with the size of the tree.
    ///
    /// - Throws: ``PredicateEvaluationError`` for a pattern that is none, an unknown function, or a tree that is deeper
    ///   than ``depthLimit``.
    public init(_ predicate: PredicateNode) throws {
        var compiler = PredicateCompiler()
        test = try compiler.compile(predicate)
    }

    /// Whether the predicate holds for a subject.
    ///
    /// - Parameters:
    ///   - subject: what `SELF` stands for: a ``PredicateSubject``, or any value.
    ///   - variables: the values of `$name`s, by their names without the dollar sign.
    /// - Throws: ``PredicateEvaluationError`` where Foundation would raise an exception, and what the subject throws.
    public func evaluate(_ subject: Any?, variables: [String: Any?] = [:]) throws -> Bool {
        try test(EvaluationScope(subject: PredicateValue(subject), variables: variables))
    }

    /// Whether the predicate holds for a subject; as above, without asking what kind of value it is.
    public func evaluate(_ subject: any PredicateSubject, variables: [String: Any?] = [:]) throws -> Bool {
        try test(EvaluationScope(subject: .object(subject), variables: variables))
    }

    /// Those of some values for which the predicate holds, in their order.
    public func filter<Subject>(_ subjects: [Subject], variables: [String: Any?] = [:]) throws -> [Subject] {
        try subjects.filter { try evaluate($0 as Any, variables: variables) }
    }

    /// Those of some subjects for which the predicate holds, in their order.
    public func filter<Subject: PredicateSubject>(
        _ subjects: [Subject], variables: [String: Any?] = [:]
    ) throws -> [Subject] {
        try subjects.filter { try evaluate($0, variables: variables) }
    }
}

/// What names stand for while a predicate is evaluated.
struct EvaluationScope {
    var subject: PredicateValue
    var variables: [String: Any?]

    /// The variables as code outside may see them: those of subqueries are reduced values.
    var plainVariables: [String: Any?] {
        variables.mapValues { value in
            if let reduced = value as? PredicateValue { reduced.value } else { value }
        }
    }
}
