import CoreDataErrors
import Foundation
import FoundationAdditions
import PredicateLanguage

/// Evaluates a query for dictionaries in memory: columns, groups, aggregates.
///
/// The rules are those of SQL: an aggregate is computed over a group, or over all rows without grouping; a plain column
/// of a group has the value of its first row; nil values are ignored by aggregates.
package struct ValueSelection {
    private let query: ValueQuery
    private let selection: RowSelection

    package init(_ query: ValueQuery) {
        self.query = query
        selection = RowSelection(query.query)
    }

    /// A dictionary for each result, with IDs for to-one relationships.
    ///
    /// - Throws: Code 134060 when the predicate or an expression cannot be evaluated, or a column is a to-many
    ///   relationship.
    package func dictionaries(of rows: [RowSubject]) throws -> [NSDictionary] {
        var results = RowDictionaries(of: query)
        for values in try values(of: rows) { results.append(values) }
        return results.dictionaries
    }

    /// An array of values for each result, in the form of key-value coding.
    private func values(of rows: [RowSubject]) throws -> [[Any?]] {
        let columns = try query.columns.map { try ValueColumn($0, entity: query.query.entity) }
        let matching = try selection.filter(rows)
        var results = try groups(of: matching, aggregating: columns.contains(where: \.isAggregate)).map { group in
            ValueGroup(rows: group, values: try columns.map { try $0.value(of: group) }, columns: columns)
        }
        if let having = query.having { results = try results.filter { try $0.meets(having) } }
        results = try sort(results)
        if query.isDistinct {
            var seen: Set<[StoredValue]> = []
            results = results.filter { seen.insert($0.values.map(StoredValue.init)).inserted }
        }
        return selection.slice(results[...]).map(\.values)
    }

    private func groups(of rows: [RowSubject], aggregating: Bool) throws -> [[RowSubject]] {
        guard !query.groupBy.isEmpty else { return aggregating ? [rows] : rows.map { [$0] } }
        let columns = try query.groupBy.map { try ValueColumn($0, entity: query.query.entity) }
        var positions: [[StoredValue]: Int] = [:]
        var groups: [(values: [Any?], rows: [RowSubject])] = []
        for row in rows {
            let values = try columns.map { try $0.value(of: [row]) }
            let key = values.map(StoredValue.init)
            if let position = positions[key] {
                groups[position].rows.append(row)
            } else {
                positions[key] = groups.count
                groups.append((values, [row]))
            }
        }
        // Sorted by the grouped values, as in SQLite.
        return groups.sorted { one, other in
            for (one, other) in zip(one.values, other.values) {
                switch SortComparison.compare(PredicateValue(one), PredicateValue(other), by: "compare:") {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }.map(\.rows)
    }

    private func sort(_ groups: [ValueGroup]) throws -> [ValueGroup] {
        guard !query.query.sortDescriptors.isEmpty else { return groups }
        let order = RowOrder<ValueGroup>(query.query.sortDescriptors) { key, isForClosure in
            { group in
                guard let key else { return SortValue(group, isForClosure: isForClosure) }
                if let position = group.columns.firstIndex(where: { $0.name == key }) {
                    return SortValue(group.values[position], isForClosure: isForClosure)
                }
                let value = try RowSelection.explaining(key) {
                    try ExpressionEvaluator(.keyPath(key)).value(for: group.rows.first)
                }
                return SortValue(value, isForClosure: isForClosure)
            }
        }
        return try order.sort(groups)
    }
}

/// The rows of a result, and its values.
private final class ValueGroup: PredicateSubject {
    let rows: [RowSubject]
    let values: [Any?]
    let columns: [ValueColumn]

    init(rows: [RowSubject], values: [Any?], columns: [ValueColumn]) {
        self.rows = rows
        self.values = values
        self.columns = columns
    }

    /// Whether a condition on groups holds. It may contain columns, as keys or as variables, and aggregates.
    func meets(_ predicate: NSPredicate) throws -> Bool {
        try RowSelection.explaining(predicate.predicateFormat) {
            let node = predicate.embeddedNode
            _ = try PredicateEvaluator(node)
            var variables: [String: Any?] = [:]
            for (column, value) in zip(columns, values) { variables[column.name] = value }
            guard let entity = rows.first?.layout.entity else { return false }
            let reduced = try GroupAggregation(entity: entity, rows: rows).reduce(node)
            return try PredicateEvaluator(reduced).evaluate(self, variables: variables)
        }
    }

    func predicateValue(forKey key: String) throws -> Any? {
        if let position = columns.firstIndex(where: { $0.name == key }) { return values[position] }
        return try rows.first?.predicateValue(forKey: key)
    }
}

/// One column of a query for dictionaries.
private struct ValueColumn {
    let name: String
    private let expression: ExpressionNode
    /// The expression, compiled.
    private let evaluator: ExpressionEvaluator
    private let kind: EntityLayout.Slot.Kind
    private let entity: NSEntityDescription
    let isAggregate: Bool

    init(_ property: NSPropertyDescription, entity: NSEntityDescription) throws {
        name = property.name
        self.entity = entity
        let expression: ExpressionNode
        switch property {
        case let description as NSExpressionDescription:
            guard let node = description.expression?.node else {
                throw CocoaError(.coreData, "The column “\(property.name)” has no expression.")
            }
            expression = node
            kind = EntityLayout.Slot.Kind(ofResult: description.expressionResultType)
            isAggregate = GroupAggregation(entity: entity, rows: []).contains(node)
        case let relationship as NSRelationshipDescription where relationship.isToMany:
            throw CocoaError(
                .coreData, "The to-many relationship “\(property.name)” cannot be fetched into dictionaries.")
        default:
            expression = .keyPath(property.name)
            kind = (property as? NSAttributeDescription).map { EntityLayout.Slot.Kind($0.attributeType) } ?? .undefined
            isAggregate = false
        }
        self.expression = expression
        evaluator = try RowSelection.explaining(property.name) { try ExpressionEvaluator(expression) }
    }

    /// The column's value for a group of rows.
    func value(of group: [RowSubject]) throws -> Any? {
        try RowSelection.explaining(name) {
            if isAggregate {
                let reduced = try GroupAggregation(entity: entity, rows: group).reduce(expression)
                return converted(try ExpressionEvaluator(reduced).value(for: group.first))
            }
            return try group.first.flatMap { converted(try evaluator.predicateValue(for: $0).value) }
        }
    }

    /// The value converted to the column's type.
    private func converted(_ value: Any?) -> Any? {
        switch value {
        case nil: return nil
        case let row as RowSubject: return row.objectID
        case let some?:
            if kind != .undefined, let typed = try? Value(some, kind: kind) { return typed.object(kind: kind) }
            return switch some {
            case let flag as Bool: NSNumber(value: flag)
            case let number as Int64: NSNumber(value: number)
            case let number as Double: NSNumber(value: number)
            case let number as Decimal: NSDecimalNumber(decimal: number)
            default: some
            }
        }
    }
}
