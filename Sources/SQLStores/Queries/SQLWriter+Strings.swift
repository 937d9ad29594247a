import Foundation
import ManagedObjects
import PredicateLanguage
import SQLStatements

// Canonically equivalent texts (an é as one character or as two) are equal in a predicate, but SQLite compares their
// bytes. If bytes are not sufficient, the functions of `PredicateFunctions` are called. An index still finds the
// candidates if the constant is ASCII, because such texts have one form only.

extension SQLWriter {
    /// `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `LIKE` and `MATCHES`.
    func text(
        _ left: Operand, _ operation: ComparisonOperator, _ right: Operand, _ comparison: ComparisonNode
    ) throws -> SQLCondition {
        guard comparison.options.isDisjoint(with: .localeSensitive) else { throw refusal(.function, comparison) }
        let text = try value(left, place: comparison.left)
        guard text.kind == .string else { throw refusal(.mixedKinds, comparison) }
        guard case .constant(let constant, let position) = right else {
            let pattern = try value(right, place: comparison.right)
            guard pattern.kind == .string else { throw refusal(.mixedKinds, comparison) }
            return SQLCondition(
                try matches(text.sql, operation, pattern.sql, comparison),
                isNullable: text.isNullable || pattern.isNullable)
        }
        if constant.isNull { return never }
        guard case .string(let pattern) = constant else { throw refusal(.mixedKinds, comparison) }
        let argument = argument(constant, position, .plain)
        let exact = try matches(text.sql, operation, "\(argument)", comparison)
        var candidates: SQLFragment?
        if comparison.options.isLiteral, text.isColumn, !pattern.isEmpty, pattern.utf8.allSatisfy({ $0 < 0x80 }) {
            switch operation {
            case .beginsWith:
                let end = self.argument(constant, position, .endOfPrefix)
                candidates = "\(text.sql) >= \(argument) AND \(text.sql) < \(end)"
            case .contains: candidates = "\(dialect.position(of: "\(argument)", in: text.sql)) > 0"
            case .like:
                isReusable = false
                let prefix = String(pattern.prefix { !"*?\\".contains($0) })
                if prefix.isEmpty { break }
                let start = SQLArgument.text(prefix)
                let end = SQLArgument.fixed(SQLConversion.end(ofPrefix: prefix))
                candidates = "\(text.sql) >= \(start) AND \(text.sql) < \(end)"
            default: break
            }
        }
        if operation == .matches {
            isReusable = false
            // An invalid pattern is an error that evaluation in memory reports.
            if (try? StringMatcher(.matches, pattern, options: comparison.options)) == nil {
                throw refusal(.function, comparison)
            }
        }
        guard let candidates else { return SQLCondition(exact, isNullable: text.isNullable) }
        return SQLCondition("(\(candidates) AND \(exact))", isNullable: text.isNullable)
    }

    /// Whether two texts are canonically equivalent; nil equals nil.
    func sameText(_ left: SQLFragment, _ right: SQLFragment, _ comparison: ComparisonNode) throws -> SQLCondition {
        let same = try matches(left, .equalTo, right, comparison)
        return SQLCondition("(\(left) \(dialect.sameOperator) \(right) OR \(same))", isNullable: true)
    }

    /// Equality and order that ignore case or diacritics.
    func foldedText(
        _ text: SQLFragment, _ operation: ComparisonOperator, _ constant: PredicateValue, _ position: Int?,
        _ comparison: ComparisonNode
    ) throws -> SQLCondition {
        guard case .string = constant else {
            if operation == .equalTo { return never }
            throw refusal(.mixedKinds, comparison)
        }
        let argument = argument(constant, position, .plain)
        guard operation == .equalTo, comparison.options.isDisjoint(with: .localeSensitive) else {
            return try foldedText(text, operation, "\(argument)", comparison)
        }
        return SQLCondition(try matches(text, .equalTo, "\(argument)", comparison), isNullable: true)
    }

    func foldedText(
        _ left: SQLFragment, _ operation: ComparisonOperator, _ right: SQLFragment, _ comparison: ComparisonNode
    ) throws -> SQLCondition {
        guard comparison.options.isDisjoint(with: .localeSensitive) else { throw refusal(.function, comparison) }
        let options = SQLArgument.integer(Int64(comparison.options.rawValue))
        guard let fold = dialect.name(of: .fold) else { throw refusal(.function, comparison) }
        let symbol = operation == .equalTo ? dialect.sameOperator : operation.symbol
        return SQLCondition(
            "\(fold)(\(left), \(options)) \(symbol) \(fold)(\(right), \(options))", isNullable: operation != .equalTo)
    }

    private func matches(
        _ text: SQLFragment, _ operation: ComparisonOperator, _ pattern: SQLFragment, _ comparison: ComparisonNode
    ) throws -> SQLFragment {
        guard let function = dialect.name(of: .matches) else { throw refusal(.function, comparison) }
        let code = PredicateFunctions.code(of: operation, options: comparison.options)
        return "\(function)(\(text), \(pattern), \(SQLArgument.integer(code)))"
    }
}
