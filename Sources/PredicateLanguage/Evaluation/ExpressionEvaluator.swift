// `@unchecked Sendable` because nothing in it changes once it is made; objects among the constants are only asked.

/// An expression made ready to be evaluated many times.
public struct ExpressionEvaluator: @unchecked Sendable {
    private let read: PredicateCompiler.Read

    /// Makes an expression ready.
    ///
    /// - Throws: ``PredicateEvaluationError``, as ``PredicateEvaluator/init(_:)`` does.
    public init(_ expression: ExpressionNode) throws {
        var compiler = PredicateCompiler()
        read = try compiler.compile(expression)
    }

    /// The value of the expression for a subject: `Int64` for whole numbers, arrays for collections.
    ///
    /// - Throws: ``PredicateEvaluationError``, and what the subject throws.
    public func value(for subject: Any?, variables: [String: Any?] = [:]) throws -> Any? {
        try predicateValue(for: subject, variables: variables).value
    }

    /// The value of the expression for a subject, reduced.
    ///
    /// - Throws: ``PredicateEvaluationError``, and what the subject throws.
    public func predicateValue(for subject: Any?, variables: [String: Any?] = [:]) throws -> PredicateValue {
        try read(EvaluationScope(subject: PredicateValue(subject), variables: variables))
    }
}
