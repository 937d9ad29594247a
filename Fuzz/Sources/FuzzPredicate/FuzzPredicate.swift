import FuzzSupport
import PredicateLanguage

/// Called by libFuzzer with each input: a predicate, or an expression. A valid one is printed and evaluated too.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let format = String(decoding: input(bytes, count), as: UTF8.self)
    let arguments: [Any?] = ["name", 3, nil, [1, 2, 3], 0.5, "text"]
    let subject: [String: Any] = ["name": "Ada", "age": 36, "tags": ["a", "b"], "owner": ["name": "Bo"]]
    read(expecting: PredicateSyntaxError.self) {
        let predicate = try PredicateParser.parse(format, arguments: arguments)
        _ = predicate.predicateFormat
        read(expecting: PredicateEvaluationError.self) { _ = try PredicateEvaluator(predicate).evaluate(subject) }
    }
    read(expecting: PredicateSyntaxError.self) {
        let expression = try PredicateParser.parseExpression(format, arguments: arguments)
        _ = expression.predicateFormat
        read(expecting: PredicateEvaluationError.self) { _ = try ExpressionEvaluator(expression).value(for: subject) }
    }
    return 0
}
