// The statements that read and write the join table of a many-to-many relationship.

extension SQLPairs {
    /// Inserts a pair, unless it exists. Parameters: source and member.
    var insertion: SQLInsert { SQLInsert(into: table, [source, destination], duplicates: .areIgnored) }

    /// Inserts a pair with positions. A pair that exists keeps its positions, unless new ones are given; without a position,
    /// a new pair is the last. Parameters: 1 the source, 2 the member, 3 the position among the source's members, 4 the
    /// position among the member's.
    ///
    /// Nil if the relationship and its inverse are unordered.
    var orderedInsertion: SQLInsert? {
        var values: [(column: String, value: String)] = [(source, "?1"), (destination, "?2")]
        var updates: [SQLAssignment] = []
        for (column, parameter, owner) in [
            (position, "?3", "\(source) = ?1"), (inversePosition, "?4", "\(destination) = ?2"),
        ] {
            guard let column else { continue }
            let last = "(SELECT max(\(column)) FROM \(table) WHERE \(owner))"
            let (before, step) = (OrderedPositions.beforeFirst, OrderedPositions.step)
            values.append((column, "COALESCE(\(parameter), COALESCE(\(last), \(before)) + \(step))"))
            updates.append(.expression("COALESCE(\(parameter), \(table).\(column))", of: column))
        }
        guard !updates.isEmpty else { return nil }
        // An upsert instead of a replacement, because triggers count insertions and deletions.
        return SQLInsert(into: table, values, duplicates: .update(key: [source, destination], updates))
    }

    /// Deletes a pair. Parameters: source and member.
    var deletion: SQLDelete { SQLDelete(from: table, where: .all([.equals(source), .equals(destination)])) }

    /// Sets a position of a pair. Parameters: position, source, member.
    func update(ofPosition column: String) -> SQLUpdate {
        SQLUpdate(table, set: [.parameter(column)], where: .all([.equals(source), .equals(destination)]))
    }

    /// Deletes the pairs of sources. Parameter: a list of keys.
    var deletionOfSources: SQLDelete { SQLDelete(from: table, where: .listed(source)) }

    /// The pairs with the two sides exchanged.
    var reversed: SQLPairs {
        SQLPairs(
            table: table, source: destination, destination: source, position: inversePosition,
            inversePosition: position, isReflexive: isReflexive)
    }
}
