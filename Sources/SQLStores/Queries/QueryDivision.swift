import ManagedObjects
import PredicateLanguage

/// A query in two parts: the part that the store executes, and the part that is evaluated in memory on its rows.
package struct QueryDivision {
    /// The parts that cannot be translated: the same for all queries with the same ``QueryKey``.
    struct Pattern: Sendable {
        /// The indexes of the refused parts among the parts of the conjunction.
        var refusedParts: [Int] = []
        var refusesOrder = false
    }

    package private(set) var stored: RowQuery
    /// The predicate, order and limits to apply to the rows of `stored`; nil if there are none.
    private(set) var remainder: RowQuery?
    /// The reasons: one for each refused part. Empty if a query with the same key was divided before.
    var refusals: [PredicateRefusal] = []

    /// Divides a query: the store evaluates the parts of a conjunction that are not refused; the others, and consequently
    /// the limits, are evaluated in memory.
    init(_ query: RowQuery, _ pattern: Pattern) {
        stored = query
        guard !pattern.refusedParts.isEmpty || pattern.refusesOrder else { return }
        var remainder = query
        if pattern.refusedParts.isEmpty {
            remainder.predicate = nil
        } else {
            let parts = Self.parts(of: query)
            let refused = Set(pattern.refusedParts)
            stored.predicate = Self.predicate(of: parts.indices.filter { !refused.contains($0) }.map { parts[$0] })
            remainder.predicate = Self.predicate(of: pattern.refusedParts.map { parts[$0] })
            stored.expectation = remainder.predicate
        }
        if pattern.refusesOrder { stored.sortDescriptors = [] } else { remainder.sortDescriptors = [] }
        (stored.offset, stored.limit) = (0, 0)
        self.remainder = remainder
    }

    /// The parts of a conjunction, in order; any other predicate is its own single part.
    static func parts(of query: RowQuery) -> [PredicateNode] {
        guard let predicate = query.predicate?.embeddedNode else { return [] }
        var parts: [PredicateNode] = []
        var pending = [predicate]
        while let next = pending.popLast() {
            if case .and(let inner) = next {
                pending += inner.reversed()
            } else {
                parts.append(next)
            }
        }
        return parts
    }

    private static func predicate(of parts: [PredicateNode]) -> NSPredicate? {
        switch parts.count {
        case 0: nil
        case 1: NSPredicate.predicate(stating: parts[0])
        default: NSPredicate.predicate(stating: .and(parts))
        }
    }
}

extension QueryDivision.Pattern {
    /// The pattern of a query whose whole predicate is evaluated in memory.
    init(refusingAll query: RowQuery) {
        refusedParts = Array(QueryDivision.parts(of: query).indices)
    }
}

extension SQLQueryCompiler {
    /// Divides a query, with the reasons.
    ///
    /// - Throws: `CocoaError.coreData` for a key that the entity does not have.
    func divide(_ query: RowQuery, store: UInt16) throws -> QueryDivision {
        try analyse(query, store: store).division
    }

    /// Finds the parts of a query that cannot be translated, and determines whether they are the same for all queries with
    /// its key.
    func analyse(
        _ query: RowQuery, store: UInt16
    ) throws -> (division: QueryDivision, pattern: QueryDivision.Pattern, isReusable: Bool) {
        var pattern = QueryDivision.Pattern()
        var refusals: [PredicateRefusal] = []
        var isReusable = true
        for (index, part) in QueryDivision.parts(of: query).enumerated() {
            var extraction = ConstantExtraction(store: store)
            let extracted = extraction.extract(part)
            let writer = try writer(for: query.entityIndex, store: store, constants: extraction.constants)
            do {
                if let refusal = extraction.refusal { throw refusal() }
                _ = try writer.condition(extracted)
            } catch let refusal as PredicateRefusal {
                pattern.refusedParts.append(index)
                // The part as the user wrote it, instead of its form without constants.
                refusals.append(refusal.place.contains("\u{1}") ? PredicateRefusal(refusal.code, part) : refusal)
            }
            isReusable = isReusable && writer.isReusable
        }
        do {
            _ = try writer(for: query.entityIndex, store: store).order(query.sortDescriptors)
        } catch let refusal as PredicateRefusal {
            pattern.refusesOrder = true
            refusals.append(refusal)
        }
        var division = QueryDivision(query, pattern)
        division.refusals = refusals
        return (division, pattern, isReusable)
    }

    // MARK: - Explanation

    /// Describes to a user how a query is executed: the statement, its parameters, and the parts that are evaluated in
    /// memory.
    func explain(_ query: RowQuery, store: UInt16) throws -> String {
        let division = try divide(query, store: store)
        let statement = try rows(division.stored, selecting: .keys, store: store)
        var text = statement.sql
        if !statement.arguments.isEmpty {
            text += "\nwith \(statement.arguments.map(\.description).joined(separator: ", "))"
        }
        for refusal in division.refusals { text += "\nin memory: \(refusal)" }
        return text
    }
}
