import PredicateLanguage

// Predicates whose string operators the database does not have are evaluated in memory. The statement then omits the
// rows that cannot satisfy them.

/// A string operator with its right side, for a condition that texts must satisfy.
struct TextTest {
    enum Operation {
        case equal, beginsWith, endsWith, contains, like
    }

    let operation: Operation
    /// The right side without the differences that the options ignore; a pattern of SQL for ``Operation/like``.
    let argument: SQLArgument
    let options: ComparisonOptions
}

extension SQLWriter {
    /// The maximum depth and breadth of the predicates for which candidates are restricted.
    private static let candidateDepth = 16
    private static let candidateCount = 32

    /// A condition that all rows satisfy for which a predicate is true; nil if there is none but the predicate itself.
    func candidates(_ node: PredicateNode) -> SQLFragment? {
        // With its functions the database evaluates the predicate itself, if it is possible at all.
        dialect.name(of: .matches) == nil ? candidates(node, depth: 0) : nil
    }

    private func candidates(_ node: PredicateNode, depth: Int) -> SQLFragment? {
        guard depth < Self.candidateDepth else { return nil }
        switch node {
        case .comparison(let comparison): return candidates(comparison)
        case .and(let parts):
            let conditions = parts.prefix(Self.candidateCount).compactMap { candidates($0, depth: depth + 1) }
            return conditions.isEmpty ? nil : "(\(conditions.joined(separator: " AND ")))"
        case .or(let parts):
            guard (1...Self.candidateCount).contains(parts.count) else { return nil }
            let conditions = parts.compactMap { candidates($0, depth: depth + 1) }
            return conditions.count == parts.count ? "(\(conditions.joined(separator: " OR ")))" : nil
        case .constant, .not, .opaque: return nil
        }
    }

    private func candidates(_ comparison: ComparisonNode) -> SQLFragment? {
        guard comparison.modifier == .direct, comparison.options.isDisjoint(with: .localeSensitive),
            let operation = TextTest.Operation(comparison.operation),
            case .constant(let constant, let position)? = try? operand(comparison.right),
            case .string(let pattern) = constant,
            // A pair of a carriage return and a line feed is one character.
            operation != .like || !pattern.unicodeScalars.contains("\r"),
            let text = try? value(comparison.left), text.kind == .string
        else { return nil }
        isReusable = isReusable && operation != .like
        let argument = argument(
            constant, position,
            operation == .like ? .foldedPattern(comparison.options) : .folded(comparison.options))
        return dialect.candidates(
            of: text.sql, TextTest(operation: operation, argument: argument, options: comparison.options))
    }
}

extension TextTest.Operation {
    fileprivate init?(_ operation: ComparisonOperator) {
        switch operation {
        case .equalTo: self = .equal
        case .beginsWith: self = .beginsWith
        case .endsWith: self = .endsWith
        case .contains: self = .contains
        case .like: self = .like
        default: return nil
        }
    }
}
