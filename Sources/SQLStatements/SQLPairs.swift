import StoreSupport
/// A many-to-many relationship from the point of view of one side.
package struct SQLPairs {
    package let table: String
    /// The column with the keys of the objects that have the relationship, and the column with their members' keys.
    package let source: String
    package let destination: String
    /// The position of a member among the source's members, if the relationship is ordered.
    package let position: String?
    /// The position of the source among the member's members, if the inverse is ordered.
    package let inversePosition: String?
    /// Whether the relationship is its own inverse: a pair applies in both directions, and the store may contain one or
    /// both.
    package let isReflexive: Bool

    package init(
        table: String, source: String, destination: String, position: String?, inversePosition: String?,
        isReflexive: Bool
    ) {
        (self.table, self.source, self.destination) = (table, source, destination)
        (self.position, self.inversePosition, self.isReflexive) = (position, inversePosition, isReflexive)
    }
}

// MARK: - The statements that read and write the join table

extension SQLPairs {
    /// The number of an object's members, as an expression. If the relationship is its own inverse, the object may be on either side
    /// of a pair; a pair in both directions counts once.
    ///
    /// - Parameter key: An expression for the object's key.
    package func count(ofOwner key: String) -> String {
        guard isReflexive else { return "(SELECT COUNT(*) FROM \(table) WHERE \(source) = \(key))" }
        return "(SELECT COUNT(DISTINCT CASE WHEN \(source) = \(key) THEN \(destination) ELSE \(source) END) "
            + "FROM \(table) WHERE \(source) = \(key) OR \(destination) = \(key))"
    }

    /// Inserts a pair, unless it exists. Parameters: source and member.
    package var insertion: SQLInsert { SQLInsert(into: table, [source, destination], duplicates: .areIgnored) }

    /// Inserts a pair with positions. A pair that exists keeps its positions, unless new ones are given; without a position,
    /// a new pair is the last. Parameters: 1 the source, 2 the member, 3 the position among the source's members, 4 the
    /// position among the member's.
    ///
    /// Nil if the relationship and its inverse are unordered.
    package var orderedInsertion: SQLInsert? {
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
    package var deletion: SQLDelete { SQLDelete(from: table, where: .all([.equals(source), .equals(destination)])) }

    /// Sets a position of a pair. Parameters: position, source, member.
    package func update(ofPosition column: String) -> SQLUpdate {
        SQLUpdate(table, set: [.parameter(column)], where: .all([.equals(source), .equals(destination)]))
    }

    /// Deletes the pairs of sources. Parameter: a list of keys.
    package var deletionOfSources: SQLDelete { SQLDelete(from: table, where: .listed(source)) }

    /// The pairs with the two sides exchanged.
    package var reversed: SQLPairs {
        SQLPairs(
            table: table, source: destination, destination: source, position: inversePosition,
            inversePosition: position, isReflexive: isReflexive)
    }
}
