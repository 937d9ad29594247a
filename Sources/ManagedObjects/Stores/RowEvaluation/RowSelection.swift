import CoreDataErrors
import Foundation
import FoundationAdditions
import PredicateLanguage

/// Applies a query to rows in memory: its predicate, its order, its limits.
///
/// For stores that keep rows in memory, and for predicates that SQL cannot express.
package struct RowSelection {
    package let query: RowQuery

    package init(_ query: RowQuery) {
        self.query = query
    }

    /// The matching rows in the query's order, with offset and limit applied.
    ///
    /// - Throws: Code 134060 when the predicate or a sort descriptor contains a property that the entity does not have,
    ///   or compares values that cannot be compared.
    package func select(from rows: some Sequence<RowSubject>) throws -> [RowSubject] {
        if query.sortDescriptors.isEmpty, query.limit > 0 { return try first(of: rows) }
        let sorted = try sort(filter(rows))
        return Array(slice(sorted[...]))
    }

    /// The matching rows among those that a store has read for the query without its predicate, order and limits.
    package func select(from result: RowResult, graph: StoreRowGraph) throws -> RowResult {
        var positions: [ObjectKey: RowResult.Position] = [:]
        let subjects = graph.subjects(of: result)
        for (subject, position) in zip(subjects, result.order) { positions[subject.key] = position }
        let selected = try select(from: subjects)
        return RowResult(
            pages: result.pages, order: ContiguousArray(selected.compactMap { positions[$0.key] }))
    }

    /// The rows for which the predicate holds, without the excluded ones.
    package func filter(_ rows: some Sequence<RowSubject>) throws -> [RowSubject] {
        try testing { isIncluded in try rows.filter(isIncluded) }
    }

    /// The matching rows between offset and limit, without a search among those after them.
    private func first(of rows: some Sequence<RowSubject>) throws -> [RowSubject] {
        try testing { isIncluded in
            var found: [RowSubject] = []
            var skipped = 0
            for row in rows where try isIncluded(row) {
                if skipped < query.offset {
                    skipped += 1
                    continue
                }
                found.append(row)
                if found.count == query.limit { break }
            }
            return found
        }
    }

    /// Calls a closure with the test whether a row is part of the result.
    private func testing(_ body: ((RowSubject) throws -> Bool) throws -> [RowSubject]) throws -> [RowSubject] {
        let excluded = Set(query.excluded)
        guard let predicate = query.predicate else { return try body { !excluded.contains($0.key) } }
        try Self.requireNoCode(in: predicate)
        return try Self.explaining(predicate.predicateFormat) {
            let evaluator = try PredicateEvaluator(predicate.embeddedNode.identifyingObjects())
            return try body { try !excluded.contains($0.key) && evaluator.evaluate($0) }
        }
    }

    /// Rejects a predicate with a block or other code, which takes objects: a store has only rows.
    private static func requireNoCode(in predicate: NSPredicate) throws {
        guard predicate.asksCode else { return }
        throw CocoaError(
            .coreData,
            "Unsupported predicate \(predicate.predicateFormat): it calls code that takes objects; a store has none. "
                + "Fetch without it, and filter the objects.")
    }

    /// The rows sorted by the sort descriptors, with a stable sort.
    package func sort(_ rows: [RowSubject]) throws -> [RowSubject] {
        guard !query.sortDescriptors.isEmpty else { return rows }
        let order = try RowOrder<RowSubject>(query.sortDescriptors) { key, isForClosure in
            guard let key else { return { SortValue($0, isForClosure: isForClosure) } }
            let evaluator = try Self.explaining(key) { try ExpressionEvaluator(.keyPath(key)) }
            return { row in
                let value = try Self.explaining(key) { try evaluator.predicateValue(for: row) }
                return isForClosure ? SortValue(value.value, isForClosure: true) : SortValue(value)
            }
        }
        let (end, isTooLarge) = max(0, query.offset).addingReportingOverflow(query.limit)
        return try order.sort(rows, first: query.limit > 0 && !isTooLarge ? end : nil)
    }

    /// Applies offset and limit.
    package func slice<Rows: RandomAccessCollection>(_ rows: Rows) -> Rows.SubSequence {
        let rest = rows.dropFirst(max(0, query.offset))
        return query.limit > 0 ? rest.prefix(query.limit) : rest
    }

    /// Converts errors of the predicate language to Core Data's.
    package static func explaining<Result>(_ text: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as PredicateEvaluationError {
            throw CocoaError(.coreData, "“\(text)” cannot be evaluated. \(error)")
        }
    }
}

extension NSPredicate {
    /// Whether the predicate contains code: a block, or a custom subclass.
    var asksCode: Bool {
        var asksCode = false
        embeddedNode.walk { part in
            switch part {
            case .predicate(.opaque), .expression(.opaque): asksCode = true
            default: break
            }
        }
        return asksCode
    }
}

extension PredicateNode {
    /// The predicate with object IDs instead of objects: rows are compared with IDs, and no object is accessed during
    /// the evaluation.
    func identifyingObjects() -> PredicateNode {
        mapExpressions { expression in
            guard case .constant(let constant) = expression else { return expression }
            if let object = constant.value as? NSManagedObject { return .constant(value: object.objectID) }
            guard let value = constant.value, Self.mayHoldObjects(value), let elements = constant.elements,
                elements.first?.value is NSManagedObject
            else { return expression }
            return .constant(value: elements.map { ($0.value as? NSManagedObject)?.objectID ?? $0.value })
        }
    }

    /// Quickly excludes long lists of numbers and texts.
    private static func mayHoldObjects(_ value: Any) -> Bool {
        switch value {
        case is NSSet, is NSOrderedSet, is NSArray, is [NSManagedObject], is Set<NSManagedObject>: true
        case let list as [Any]: list.first is NSManagedObject
        case let set as Set<AnyHashable>: set.first?.base is NSManagedObject
        default: false
        }
    }
}
