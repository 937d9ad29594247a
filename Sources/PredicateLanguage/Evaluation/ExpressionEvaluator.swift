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
}
