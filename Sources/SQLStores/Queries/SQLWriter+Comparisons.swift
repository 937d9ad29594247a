import Foundation
import ManagedObjects
import PredicateLanguage
import SQLStatements

// In a predicate nil is a value: it equals nil, differs from every other value, has no order, and a negated condition
// is true for it if the condition itself is not. Therefore `!=` is translated to IS NOT, which also matches NULL, as in
// Core Data's own SQL, and a condition that may be NULL is negated with IS NOT TRUE.

extension SQLWriter {
    func condition(_ comparison: ComparisonNode) throws -> SQLCondition {
        if let test = try existence(comparison) { return test }
        return try condition(comparison, operand(comparison.left), operand(comparison.right))
    }

    func condition(_ comparison: ComparisonNode, _ left: Operand, _ right: Operand) throws -> SQLCondition {
        guard comparison.modifier != .direct, case .members(let members) = left else {
            return try single(comparison, left, compare(left, comparison, right))
        }
        let element = Operand.value(members.value ?? key(of: members.source))
        let condition = try compare(element, comparison, right)
        if comparison.modifier == .any {
            return try hasMember(
                members, where: condition, search: search(for: element, of: members, comparison, right))
        }
        return SQLCondition("NOT EXISTS (\(members.select("1", where: condition.negated.sql)))")
    }

    /// ANY and ALL of a single value: it is a collection of one element, and nil is an empty collection.
    private func single(
        _ comparison: ComparisonNode, _ left: Operand, _ condition: SQLCondition
    ) throws -> SQLCondition {
        guard comparison.modifier != .direct else { return condition }
        guard case .value(let value) = left else { throw refusal(.function, comparison) }
        guard value.isNullable else { return condition }
        return comparison.modifier == .any
            ? SQLCondition("(\(condition.sql) AND \(value.sql) IS NOT NULL)", isNullable: condition.isNullable)
            : SQLCondition("(\(condition.sql) OR \(value.sql) IS NULL)", isNullable: condition.isNullable)
    }

    func refusal(_ code: PredicateRefusal.Code, _ comparison: ComparisonNode) -> PredicateRefusal {
        PredicateRefusal(code, .comparison(comparison))
    }

    func compare(_ left: Operand, _ comparison: ComparisonNode, _ right: Operand) throws -> SQLCondition {
        if case .constant(let left, _) = left, case .constant(let right, _) = right {
            return try constant(left, comparison, right)
        }
        switch comparison.operation {
        case .equalTo: return try equality(left, right, comparison)
        case .notEqualTo: return try inequality(left, right, comparison)
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            return try order(left, comparison.operation, right, comparison)
        case .in: return try membership(of: left, in: right, comparison)
        case .contains: return try membership(of: right, in: left, comparison)
        case .between: return try between(left, right, comparison)
        case .beginsWith, .endsWith, .like, .matches: return try text(left, comparison.operation, right, comparison)
        case .customSelector: throw refusal(.function, comparison)
        }
    }

    /// A comparison of two constants is evaluated by the evaluator.
    private func constant(
        _ left: PredicateValue, _ comparison: ComparisonNode, _ right: PredicateValue
    ) throws -> SQLCondition {
        isReusable = false
        let node = ComparisonNode(
            .constant(value: left.value), comparison.operation, .constant(value: right.value),
            options: comparison.options)
        guard let holds = try? PredicateEvaluator(.comparison(node)).evaluate(nil) else {
            throw refusal(.mixedKinds, comparison)
        }
        return holds ? always : never
    }

    // MARK: - Equality

    func equality(_ left: Operand, _ right: Operand, _ comparison: ComparisonNode) throws -> SQLCondition {
        switch (left, right) {
        case (.constant, .value): return try equality(right, left, comparison)
        case (.value(let value), .constant(let constant, let position)):
            if constant.isNull {
                return value.isNullable ? SQLCondition("\(value.sql) IS NULL") : never
            }
            if value.kind == .string, !comparison.options.isLiteral {
                return try foldedText(value.sql, .equalTo, constant, position, comparison)
            }
            let arguments = try arguments(for: constant, position, matching: value, comparison)
            switch arguments.count {
            case 0: return never
            case 1:
                return SQLCondition(
                    "\(value.sql) = \(arguments[0])", isNullable: value.isNullable,
                    bounds: searchable(value, .equalTo, "\(arguments[0])"))
            default: return try list(value, arguments, comparison)
            }
        case (.value(let left), .value(let right)):
            let (left, right) = try comparable(left, right, comparison)
            if left.kind == .string {
                guard comparison.options.isLiteral else {
                    return try foldedText(left.sql, .equalTo, right.sql, comparison)
                }
                return try sameText(left.sql, right.sql, comparison)
            }
            return SQLCondition(
                "\(left.sql) \(left.isNullable && right.isNullable ? dialect.sameOperator : "=") \(right.sql)",
                isNullable: left.isNullable != right.isNullable)
        default: throw refusal(.toMany, comparison)
        }
    }

    private func inequality(_ left: Operand, _ right: Operand, _ comparison: ComparisonNode) throws -> SQLCondition {
        switch (left, right) {
        case (.constant, .value): return try inequality(right, left, comparison)
        case (.value(let value), .constant(let constant, let position)):
            if constant.isNull {
                return value.isNullable ? SQLCondition("\(value.sql) IS NOT NULL") : always
            }
            if value.kind == .string, !comparison.options.isLiteral { break }
            let arguments = try arguments(for: constant, position, matching: value, comparison)
            if arguments.isEmpty { return always }
            if arguments.count > 1 { break }
            return SQLCondition("\(value.sql) \(value.isNullable ? dialect.differentOperator : "<>") \(arguments[0])")
        case (.value(let left), .value(let right)):
            let (left, right) = try comparable(left, right, comparison)
            if left.kind == .string { break }
            return SQLCondition("\(left.sql) \(dialect.differentOperator) \(right.sql)")
        default: throw refusal(.toMany, comparison)
        }
        return try equality(left, right, comparison).negated
    }

    /// The parameters that a value equals if it equals a constant. Empty if no value in this store can be equal: for a
    /// value of another kind, or an object that is unsaved, in another store, or of another hierarchy. Three for a text
    /// that may have two Unicode normalization forms and be in neither.
    func arguments(
        for constant: PredicateValue, _ position: Int?, matching value: SQLValue, _ comparison: ComparisonNode
    ) throws -> [SQLArgument] {
        if value.kind == .bytes { throw refusal(.notStored, comparison) }
        guard value.kind.compares(with: constant) else { return [] }
        switch value.kind {
        case .key(let root):
            guard let (key, hierarchy) = constant.storedObject, !key.isTemporary, key.number != 0, key.store == store,
                hierarchy == root
            else { return [] }
            return [argument(constant, position, .key)]
        case .entity:
            isReusable = false
            return constant.entityName.flatMap(number).map { [.integer($0)] } ?? []
        case .entityName:
            isReusable = false
            guard case .string(let name) = constant else { return [] }
            return number(ofEntity: name).map { [.integer($0)] } ?? []
        case .string:
            if case .string(let text) = constant, text.utf8.contains(where: { $0 >= 0x80 }) {
                return [
                    argument(constant, position, .composed), argument(constant, position, .decomposed),
                    argument(constant, position, .plain),
                ]
            }
            return [argument(constant, position, .plain)]
        default: return [argument(constant, position, value.kind.isWhole ? .whole : .plain)]
        }
    }

    private func number(ofEntity name: String) -> Int64? {
        schema.entities.first { $0.entity.name == name }?.number
    }

    private func comparable(
        _ left: SQLValue, _ right: SQLValue, _ comparison: ComparisonNode
    ) throws -> (SQLValue, SQLValue) {
        guard left.kind.compares(with: right.kind) else { throw refusal(.mixedKinds, comparison) }
        return (left, right)
    }

    // MARK: - Order

    private func order(
        _ left: Operand, _ operation: ComparisonOperator, _ right: Operand, _ comparison: ComparisonNode
    ) throws -> SQLCondition {
        switch (left, right) {
        case (.constant, .value): return try order(right, operation.mirrored, left, comparison)
        case (.value(let value), .constant(let constant, let position)):
            if constant.isNull { return never }
            if value.kind == .string, !comparison.options.isLiteral {
                return try foldedText(value.sql, operation, constant, position, comparison)
            }
            if case .key = value.kind {
                // Object IDs of one hierarchy have the order of their primary keys.
                guard let key = try arguments(for: constant, position, matching: value, comparison).first else {
                    throw refusal(.mixedKinds, comparison)
                }
                return SQLCondition("\(value.sql) \(operation.symbol) \(key)", isNullable: value.isNullable)
            }
            let argument = try orderedArgument(constant, position, matching: value, comparison)
            return SQLCondition(
                "\(value.sql) \(operation.symbol) \(argument)", isNullable: value.isNullable,
                bounds: searchable(value, operation, "\(argument)"))
        case (.value(let left), .value(let right)):
            let (left, right) = try comparable(left, right, comparison)
            guard left.kind.isOrdered else { throw refusal(.mixedKinds, comparison) }
            if left.kind == .string, !comparison.options.isLiteral {
                return try foldedText(left.sql, operation, right.sql, comparison)
            }
            return SQLCondition(
                "\(left.sql) \(operation.symbol) \(right.sql)", isNullable: left.isNullable || right.isNullable)
        default: throw refusal(.toMany, comparison)
        }
    }

    private func orderedArgument(
        _ constant: PredicateValue, _ position: Int?, matching value: SQLValue, _ comparison: ComparisonNode
    ) throws -> SQLArgument {
        guard value.kind.isOrdered, value.kind.compares(with: constant) else {
            throw refusal(.mixedKinds, comparison)
        }
        return argument(constant, position, value.kind.isWhole ? .whole : .plain)
    }

    private func between(_ left: Operand, _ right: Operand, _ comparison: ComparisonNode) throws -> SQLCondition {
        let bounds: [Operand]
        switch right {
        case .list(let elements): bounds = elements
        case .constant(.collection(let elements, ordered: true), _):
            isReusable = false
            bounds = elements.map { .constant($0, nil) }
        default: throw refusal(.function, comparison)
        }
        guard bounds.count == 2, case .value(let value) = left else { throw refusal(.function, comparison) }
        guard comparison.options.isLiteral || value.kind != .string else {
            let low = try order(left, .greaterThanOrEqualTo, bounds[0], comparison)
            let high = try order(left, .lessThanOrEqualTo, bounds[1], comparison)
            return SQLCondition("(\(low.sql) AND \(high.sql))", isNullable: low.isNullable || high.isNullable)
        }
        for case .constant(.null, _) in bounds { return never }
        var isNullable = value.isNullable
        let limits: [SQLFragment] = try bounds.map { bound in
            switch bound {
            case .constant(let constant, let position):
                return "\(try orderedArgument(constant, position, matching: value, comparison))"
            case .value(let bound):
                guard value.kind.isOrdered, value.kind.compares(with: bound.kind) else {
                    throw refusal(.mixedKinds, comparison)
                }
                isNullable = isNullable || bound.isNullable
                return bound.sql
            case .members, .list: throw refusal(.toMany, comparison)
            }
        }
        return SQLCondition(
            "\(value.sql) BETWEEN \(limits[0]) AND \(limits[1])", isNullable: isNullable,
            bounds: searchable(value, .greaterThanOrEqualTo, limits[0])
                + searchable(value, .lessThanOrEqualTo, limits[1]))
    }

    /// The bounds by which an R-tree can search; empty if no R-tree is used, or if the limit is not a parameter.
    private func searchable(_ value: SQLValue, _ operation: ComparisonOperator, _ limit: SQLFragment) -> [SpatialBound]
    {
        guard limit.text == "?", [.integer, .real, .date].contains(value.kind) else { return [] }
        return SpatialBound(value.spatial, operation, limit).map { [$0] } ?? []
    }
}

extension SQLKind {
    var isOrdered: Bool {
        switch self {
        case .integer, .boolean, .real, .decimal, .string, .date, .uuid, .url, .data: true
        case .bytes, .key, .entity, .entityName: false
        }
    }
}

extension ComparisonOptions {
    /// Whether texts are compared literally, without ignoring case, diacritics or locale.
    var isLiteral: Bool { isDisjoint(with: [.caseInsensitive, .diacriticInsensitive, .localeSensitive]) }
}

extension ComparisonOperator {
    /// The equivalent operator with exchanged sides.
    fileprivate var mirrored: ComparisonOperator {
        switch self {
        case .lessThan: .greaterThan
        case .lessThanOrEqualTo: .greaterThanOrEqualTo
        case .greaterThan: .lessThan
        case .greaterThanOrEqualTo: .lessThanOrEqualTo
        default: self
        }
    }
}
