import Foundation
import PredicateLanguage

/// Puts the values of aggregates over a group of rows into an expression.
///
/// An aggregate is a function such as `sum:` of a key path that leads to one value for each row. Where the path
/// crosses a to-many relationship the function is about one row's members, and stays.
struct GroupAggregation {
    let entity: NSEntityDescription
    let rows: [RowSubject]

    private static let functions: Set<String> = [
        "sum:", "count:", "min:", "max:", "average:", "median:", "mode:", "stddev:",
    ]

    /// Whether an expression has an aggregate in it. The expression's depth has been checked by an evaluator.
    func contains(_ node: ExpressionNode) -> Bool {
        switch node {
        case .function(let name, let arguments):
            isAggregate(name, arguments) || arguments.contains(where: contains)
        case .keyPath(base: .evaluatedObject, let keys): keys.first?.hasPrefix("@") == true
        case .keyPath(let base, _): contains(base)
        case .call(let receiver, _, let arguments): contains(receiver) || arguments.contains(where: contains)
        case .aggregate(let elements): elements.contains(where: contains)
        case .conditional(_, let then, let otherwise): contains(then) || contains(otherwise)
        default: false
        }
    }

    /// The expression with the values of its aggregates in their place.
    func reduce(_ node: ExpressionNode) throws -> ExpressionNode {
        switch node {
        case .function(let name, let arguments) where isAggregate(name, arguments):
            return .constant(value: try aggregate(name, of: arguments[0]))
        case .function(let name, let arguments):
            return .function(name, arguments: try arguments.map(reduce))
        case .keyPath(base: .evaluatedObject, let keys) where keys.first?.hasPrefix("@") == true:
            let evaluator = try ExpressionEvaluator(.keyPath(base: .constant(value: rows), keys: keys))
            return .constant(value: try evaluator.value(for: nil))
        case .keyPath(let base, let keys): return .keyPath(base: try reduce(base), keys: keys)
        case .call(let receiver, let selector, let arguments):
            return .call(receiver: try reduce(receiver), selector: selector, arguments: try arguments.map(reduce))
        case .aggregate(let elements): return .aggregate(try elements.map(reduce))
        case .conditional(let condition, let then, let otherwise):
            return .conditional(try reduce(condition), then: try reduce(then), otherwise: try reduce(otherwise))
        default: return node
        }
    }

    /// The predicate with the values of its aggregates in their place.
    func reduce(_ node: PredicateNode) throws -> PredicateNode {
        switch node {
        case .comparison(var comparison):
            comparison.left = try reduce(comparison.left)
            comparison.right = try reduce(comparison.right)
            return .comparison(comparison)
        case .and(let parts): return .and(try parts.map(reduce))
        case .or(let parts): return .or(try parts.map(reduce))
        case .not(let part): return .not(try reduce(part))
        case .constant, .opaque: return node
        }
    }

    private func isAggregate(_ name: String, _ arguments: [ExpressionNode]) -> Bool {
        guard Self.functions.contains(name), arguments.count == 1 else { return false }
        return switch arguments[0] {
        case .evaluatedObject: name == "count:"
        case .keyPath(base: .evaluatedObject, let keys): leadsToOneValue(keys)
        default: false
        }
    }

    private func leadsToOneValue(_ keys: [String]) -> Bool {
        var entity: NSEntityDescription? = entity
        for key in keys {
            if key.hasPrefix("@") { return false }
            guard let relationship = entity?.relationshipsByName[key] else { continue }
            if relationship.isToMany { return false }
            entity = relationship.destinationEntity
        }
        return true
    }

    private func aggregate(_ name: String, of argument: ExpressionNode) throws -> Any? {
        let evaluator = try ExpressionEvaluator(argument)
        let values = try rows.compactMap { try evaluator.value(for: $0) }
        if name == "count:" { return Int64(values.count) }
        // Of no values, SQL knows no sum, no smallest and no greatest.
        if values.isEmpty { return nil }
        return try ExpressionEvaluator(.function(name, arguments: [.constant(value: values)])).value(for: nil)
    }
}
