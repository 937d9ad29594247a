/// A predicate made ready to be evaluated many times: patterns are compiled and constants reduced once.
public struct PredicateEvaluator {
    /// Makes a predicate ready.
    ///
    /// - Throws: ``PredicateEvaluationError`` for a pattern that is none, an unknown function, or a tree that is deeper
    ///   than ``PredicateParser/depthLimit``.
    public init(_ predicate: PredicateNode) throws {
    }

    /// Whether the predicate holds for a subject.
    ///
    /// - Parameters:
    ///   - subject: what `SELF` stands for: a ``PredicateSubject``, or any value.
    ///   - variables: the values of `$name`s, by their names without the dollar sign.
    /// - Throws: ``PredicateEvaluationError`` where Foundation would raise an exception, and what the subject throws.
    public func evaluate(_ subject: Any?, variables: [String: Any?] = [:]) throws -> Bool {
        false
    }
}
