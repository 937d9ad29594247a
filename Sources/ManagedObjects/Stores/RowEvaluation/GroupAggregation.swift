import Foundation
import PredicateLanguage

/// Replaces the aggregates in an expression by their values over a group of rows.
///
/// An aggregate is a function such as `sum:` of a key path with one value for each row. Where the path crosses a
/// to-many relationship, the function is evaluated for the members of each row, and not replaced.
struct GroupAggregation {
    let entity: NSEntityDescription
    let rows: [RowSubject]

    private static let functions: Set<String> = [
        "sum:", "count:", "min:", "max:", "average:", "median:", "mode:", "stddev:",
    ]

    /// Whether an expression contains an aggregate.
    func contains(_ node: ExpressionNode) -> Bool {
        var found = false
        node.walk { part in
            switch part {
            case .expression(.function(let name, let arguments)) where isAggregate(name, arguments): found = true
            case .expression(.keyPath(base: .evaluatedObject, let keys)) where isOfGroup(keys): found = true
            default: break
            }
        }
        return found
    }

    /// A key path of an expression that is neither grouped by nor in an aggregate; nil if there is none.
    func plainPath(in node: ExpressionNode, besides grouped: Set<String>) -> String? {
        let rest = node.mapExpressions { part in
            switch part {
            case .function(let name, let arguments) where isAggregate(name, arguments): .constant(value: nil)
            case .keyPath(base: .evaluatedObject, let keys) where isOfGroup(keys): .constant(value: nil)
            default: part
            }
        }
        if case .evaluatedObject = rest { return "objectID" }
        var found: String?
        rest.walk { part in
            guard case .expression(.keyPath(base: .evaluatedObject, let keys)) = part else { return }
            let path = keys.joined(separator: ".")
            if !grouped.contains(path) { found = path }
        }
        return found
    }

    /// The expression with its aggregates replaced by their values.
    func reduce(_ node: ExpressionNode) throws -> ExpressionNode { try node.mapExpressions(value) }

    /// The predicate with its aggregates replaced by their values.
    func reduce(_ node: PredicateNode) throws -> PredicateNode { try node.mapExpressions(value) }

    /// An aggregate's value, or the expression itself if it is not an aggregate.
    private func value(of node: ExpressionNode) throws -> ExpressionNode {
        switch node {
        case .function(let name, let arguments) where isAggregate(name, arguments):
            return .constant(value: try aggregate(name, of: arguments[0]))
        case .keyPath(base: .evaluatedObject, let keys) where isOfGroup(keys):
            let evaluator = try ExpressionEvaluator(.keyPath(base: .constant(value: rows), keys: keys))
            return .constant(value: try evaluator.value(for: nil))
        default: return node
        }
    }

    /// Whether a key path begins with an operator: `@count`, `@max.price`.
    private func isOfGroup(_ keys: [String]) -> Bool { keys.first?.hasPrefix("@") == true }

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
        // As in SQL, sum, minimum and maximum of no values are null.
        if values.isEmpty { return nil }
        return try ExpressionEvaluator(.function(name, arguments: [.constant(value: values)])).value(for: nil)
    }
}

extension ValueQuery {
    /// Rejects what stores would answer differently: a column or an order with several values in a group, and an order or a
    /// condition by the name of both a property and a computed column.
    ///
    /// - Throws: Code 134060.
    func requireSingleValues() throws {
        let aggregation = GroupAggregation(entity: query.entity, rows: [])
        let grouped = Set(groupBy.map(\.name))
        let sorted = query.sortDescriptors.compactMap(\.key)
        var plain: [(column: String, path: String)] = []
        var isGrouped = !grouped.isEmpty
        for column in columns.map(Column.init) {
            guard case .expression(let node?) = column.source else {
                if !grouped.contains(column.name) { plain.append((column.name, column.name)) }
                continue
            }
            isGrouped = isGrouped || aggregation.contains(node)
            if !grouped.contains(column.name), let path = aggregation.plainPath(in: node, besides: grouped) {
                plain.append((column.name, path))
            }
            guard query.entity.propertiesByName[column.name] != nil else { continue }
            if case .keyPath(base: .evaluatedObject, [column.name]) = node { continue }
            if sorted.contains(column.name) || having?.embeddedNode.keyPaths.contains([column.name]) == true {
                throw CocoaError(
                    .coreData, "“\(column.name)” is a property and a computed column: give the column another name.")
            }
        }
        guard isGrouped else { return }
        if let (column, path) = plain.first {
            throw CocoaError(
                .coreData, "The column “\(column)” has several values in a group: group by “\(path)”.")
        }
        let names = grouped.union(columns.map(\.name))
        if !grouped.isEmpty, let key = sorted.first(where: { !names.contains($0) && !$0.hasPrefix("@") }) {
            throw CocoaError(.coreData, "Groups cannot be sorted by “\(key)”, which has several values in a group.")
        }
    }
}
