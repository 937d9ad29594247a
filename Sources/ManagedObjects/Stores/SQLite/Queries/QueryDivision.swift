import PredicateLanguage

/// A query in two parts: the part that the store executes, and the part that is evaluated in memory on its rows.
struct QueryDivision {
    var stored: RowQuery
    /// The predicate, order and limits to apply to the rows of `stored`; nil if there are none.
    var remainder: RowQuery?
    /// The reasons: one for each refused part.
    var refusals: [PredicateRefusal] = []
}

extension SQLQueryCompiler {
    /// Divides a query: the store evaluates those parts of a conjunction that can be translated to SQL; the others, and
    /// consequently the limits, are evaluated in memory.
    ///
    /// - Throws: `CocoaError.coreData` for a key that the entity does not have.
    func divide(_ query: RowQuery, store: UInt16) throws -> QueryDivision {
        var division = QueryDivision(stored: query)
        if let predicate = query.predicate?.embeddedNode {
            var said: [PredicateNode] = []
            var left: [PredicateNode] = []
            for part in Self.parts(of: predicate) {
                if let refusal = try refusal(of: part, entity: query.entity, store: store) {
                    division.refusals.append(refusal)
                    left.append(part)
                } else {
                    said.append(part)
                }
            }
            if !left.isEmpty {
                division.stored.predicate = Self.predicate(of: said)
                division.remainder = query
                division.remainder?.predicate = Self.predicate(of: left)
            }
        }
        do {
            _ = try SQLWriter(query.entity, schema: schema, store: store).order(query.sortDescriptors)
            division.remainder?.sortDescriptors = []
        } catch let refusal as PredicateRefusal {
            division.refusals.append(refusal)
            if division.remainder == nil {
                division.remainder = query
                division.remainder?.predicate = nil
            }
            division.stored.sortDescriptors = []
        }
        if division.remainder != nil {
            division.stored.offset = 0
            division.stored.limit = 0
        }
        return division
    }

    /// The reason why a predicate cannot be translated to SQL; nil if it can.
    private func refusal(
        of node: PredicateNode, entity: NSEntityDescription, store: UInt16
    ) throws -> PredicateRefusal? {
        do {
            try Self.naming(node) {
                var shape = PredicateShape(store: store)
                let extracted = try shape.extract(node)
                _ = try SQLWriter(entity, schema: schema, store: store, constants: shape.constants).condition(extracted)
            }
            return nil
        } catch let refusal as PredicateRefusal {
            return refusal
        }
    }

    /// The parts of a conjunction, in order; any other predicate is its own single part.
    private static func parts(of node: PredicateNode) -> [PredicateNode] {
        var parts: [PredicateNode] = []
        var pending = [node]
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

    // MARK: - Explanation

    /// Describes to a user how a query is executed: the statement, its parameters, and the parts that are evaluated in
    /// memory.
    func explain(_ query: RowQuery, store: UInt16) throws -> String {
        let division = try divide(query, store: store)
        let statement = try rows(division.stored, selecting: "t0.Z_PK", store: store)
        var text = statement.sql
        if !statement.arguments.isEmpty {
            text += "\nwith \(statement.arguments.map(\.description).joined(separator: ", "))"
        }
        for refusal in division.refusals { text += "\nin memory: \(refusal)" }
        return text
    }
}
