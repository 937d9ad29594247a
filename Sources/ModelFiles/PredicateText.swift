import Foundation
import PredicateLanguage

extension ModelDerivation {
    /// An expression in the form of compiled models: a collection operator at the end of a key path is a function of
    /// the path before it.
    public static func normalized(_ expression: ExpressionNode) -> ExpressionNode {
        guard case .keyPath(let base, let keys) = expression, let last = keys.last,
            let selector = selectors.first(where: { $0.operators.contains(last) })?.selector
        else { return expression }
        let rest = Array(keys.dropLast())
        return .function(selector, arguments: [rest.isEmpty ? base : .keyPath(base: base, keys: rest)])
    }

    private static let selectors: [(operators: [String], selector: String)] = [
        (["@count"], "count:"), (["@sum", "@total"], "sum:"),
    ]

    /// The collection operator that a source model uses for a function of a key path; nil for other functions.
    fileprivate static func collectionOperator(_ selector: String) -> String? {
        selectors.first { $0.selector == selector }?.operators.first
    }
}

extension ExpressionNode {
    /// The text in a source model, which writes functions of key paths as collection operators.
    func sourceText() throws -> String {
        if case .function(let selector, let arguments) = self, arguments.count == 1,
            case .keyPath(.evaluatedObject, let keys) = arguments[0],
            let name = ModelDerivation.collectionOperator(selector)
        {
            return (keys + [name]).joined(separator: ".")
        }
        return predicateFormat
    }
}

extension PredicateNode {
    /// The text in a source model.
    func sourceText() throws -> String { predicateFormat }
}
