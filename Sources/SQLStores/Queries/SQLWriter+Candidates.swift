import ManagedObjects
import PredicateLanguage
import SQLStatements

// Predicates whose string operators the database does not have are evaluated in memory. The statement then omits the
// rows that cannot satisfy them.

extension SQLWriter {
    /// The maximum depth and breadth of the predicates for which candidates are restricted.
    private static let candidateDepth = 16
    private static let candidateCount = 32

    /// A condition that all rows satisfy for which a predicate is true; nil if there is none but the predicate itself.
    func candidates(_ node: PredicateNode) -> SQLFragment? {
        // With its functions the database evaluates the predicate itself, if it is possible at all.
        dialect.name(of: .matches) == nil ? enclosing(node, depth: 0).necessary : nil
    }

    private func enclosing(_ node: PredicateNode, depth: Int) -> EnclosingConditions {
        guard depth < Self.candidateDepth else { return .unknown }
        switch node {
        case .comparison(let comparison):
            if let exact = try? condition(comparison) { return Self.exactly(exact) }
            return (try? enclosing(comparison)) ?? .unknown
        case .and(let parts):
            guard !parts.isEmpty else { return Self.exactly(always) }
            let conditions = parts.prefix(Self.candidateCount).map { enclosing($0, depth: depth + 1) }
            return .all(conditions + (parts.count > Self.candidateCount ? [.unknown] : []))
        case .or(let parts):
            guard (1...Self.candidateCount).contains(parts.count) else { return .unknown }
            return .any(parts.map { enclosing($0, depth: depth + 1) })
        case .not(let part): return enclosing(part, depth: depth + 1).negated
        case .constant(let value): return Self.exactly(value ? always : never)
        case .opaque: return .unknown
        }
    }

    private static func exactly(_ condition: SQLCondition) -> EnclosingConditions {
        EnclosingConditions(necessary: condition.indexed.sql, sufficient: condition.indexed.sql)
    }

    // MARK: - Comparisons

    private func enclosing(_ comparison: ComparisonNode) throws -> EnclosingConditions {
        guard comparison.options.isDisjoint(with: .localeSensitive) else { return .unknown }
        let left = try operand(comparison.left)
        let right = try operand(comparison.right)
        guard comparison.modifier != .direct else { return try enclosing(left, comparison, right) }
        switch left {
        case .members(let members):
            guard let member = members.value else { return .unknown }
            var conditions = try enclosing(.value(member), comparison, right)
            // ALL: there is no member for which the comparison is false.
            if comparison.modifier == .all { conditions = conditions.negated }
            let exists = EnclosingConditions(
                necessary: conditions.necessary.map { "EXISTS (\(members.select("1", where: $0)))" },
                sufficient: conditions.sufficient.map { "EXISTS (\(members.select("1", where: $0)))" })
            return comparison.modifier == .all ? exists.negated : exists
        case .value(let value):
            // A single value is a collection of one element, and nil is an empty collection.
            let isPresent = Self.exactly(SQLCondition("\(value.sql) IS NOT NULL"))
            let conditions = try enclosing(left, comparison, right)
            return comparison.modifier == .any ? .all([conditions, isPresent]) : .any([conditions, isPresent.negated])
        case .constant, .list: return .unknown
        }
    }

    private func enclosing(
        _ left: Operand, _ comparison: ComparisonNode, _ right: Operand
    ) throws -> EnclosingConditions {
        guard case .value(let text) = left, text.kind == .string else { return .unknown }
        switch comparison.operation {
        case .notEqualTo:
            var equality = comparison
            equality.operation = .equalTo
            return try enclosing(left, equality, right).negated
        case .in: return try membership(of: text, in: right, comparison)
        case .matches: return regularExpression(text, right, comparison)
        default:
            guard let operation = TextTest.Operation(comparison.operation) else { return .unknown }
            return test(text, operation, right, comparison)
        }
    }

    private func test(
        _ text: SQLValue, _ operation: TextTest.Operation, _ right: Operand, _ comparison: ComparisonNode
    ) -> EnclosingConditions {
        let part: SQLFragment
        let isConstant: Bool
        isReusable = isReusable && operation != .like
        switch right {
        case .constant(let constant, let position):
            guard case .string(let pattern) = constant,
                // A pair of a carriage return and a line feed is one character.
                operation != .like || !pattern.unicodeScalars.contains("\r")
            else { return .unknown }
            let conversion = SQLConversion.folded(comparison.options)
            let argument = argument(
                constant, position, operation == .like ? .foldedPattern(comparison.options) : conversion)
            (part, isConstant) = ("\(argument)", true)
        case .value(let value) where value.kind == .string && operation != .like:
            (part, isConstant) = (value.sql, false)
        case .value, .members, .list: return .unknown
        }
        return dialect.enclosing(
            text.sql,
            TextTest(operation: operation, part: part, isConstant: isConstant, options: comparison.options))
    }

    private func membership(
        of text: SQLValue, in collection: Operand, _ comparison: ComparisonNode
    ) throws -> EnclosingConditions {
        let elements: [Operand]
        switch collection {
        case .list(let listed): elements = listed
        case .constant(.collection(let constants, _), _):
            isReusable = false
            elements = constants.map { .constant($0, nil) }
        case .constant, .value, .members: return .unknown
        }
        guard (1...Self.candidateCount).contains(elements.count) else { return .unknown }
        return .any(
            elements.map { element in
                if case .constant(.null, _) = element { return Self.exactly(SQLCondition("\(text.sql) IS NULL")) }
                return test(text, .equal, element, comparison)
            })
    }

    // MARK: - Regular expressions

    /// The condition that a text has the literal part with which a regular expression begins.
    private func regularExpression(
        _ text: SQLValue, _ right: Operand, _ comparison: ComparisonNode
    ) -> EnclosingConditions {
        isReusable = false
        guard case .constant(.string(let pattern), _) = right, let literal = LiteralPart(ofExpression: pattern),
            // An invalid pattern is an error that evaluation in memory reports.
            (try? StringMatcher(.matches, pattern, options: comparison.options)) != nil
        else { return .unknown }
        let part = Operand.constant(.string(literal.text), nil)
        let conditions = test(text, literal.isAtStart ? .beginsWith : .contains, part, comparison)
        return EnclosingConditions(necessary: conditions.necessary, sufficient: nil)
    }
}

/// A text that every match of a regular expression contains.
private struct LiteralPart {
    let text: String
    let isAtStart: Bool

    /// The ASCII letters, digits and spaces with which an expression begins, maybe after `.*`. Nil if there are none, or if there
    /// may be alternatives.
    init?(ofExpression pattern: String) {
        guard !pattern.unicodeScalars.contains("|") else { return nil }
        var rest = pattern.unicodeScalars[...]
        isAtStart = !rest.starts(with: ".*".unicodeScalars)
        if !isAtStart {
            rest = rest.dropFirst(2)
            if let next = rest.first, "?+".unicodeScalars.contains(next) { rest = rest.dropFirst() }
        }
        var literal = Array(
            rest.prefix { $0 == " " || $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil) })
        // A quantifier may allow that the last character is missing.
        if let next = rest.dropFirst(literal.count).first, "*?{".unicodeScalars.contains(next) { literal.removeLast() }
        guard !literal.isEmpty else { return nil }
        text = String(String.UnicodeScalarView(literal))
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
