/// An expression made ready to be evaluated many times.
public struct ExpressionEvaluator {
    /// Makes an expression ready.
    ///
    /// - Throws: ``PredicateEvaluationError``, as ``PredicateEvaluator/init(_:)`` does.
    public init(_ expression: ExpressionNode) throws {
    }

    /// The value of the expression for a subject: `Int64` for integers, arrays for collections.
    ///
    /// - Throws: ``PredicateEvaluationError``, and what the subject throws.
    public func value(for subject: Any?, variables: [String: Any?] = [:]) throws -> Any? {
        nil
    }
}
