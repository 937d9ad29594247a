import Foundation
import GRDB

/// Writes the join tables of many-to-many relationships.
struct PairWriter {
    let schema: SQLSchema
    let database: Database

    /// The first position in an order, and the distance between two positions.
    private static let firstPosition = 2048
    private static let positionStep = 1024

    func write(_ group: SavePlan.PairGroup) throws {
        guard let pairs = schema.pairs(of: group.relationship) else {
            throw CocoaError(
                .persistentStoreSave,
                "The relationship “\(group.relationship.name)” has no join table.")
        }
        var rest = group.pairs[...]
        while let kind = rest.first?.kind {
            let pairsOfKind = rest.prefix { $0.kind == kind }
            rest = rest.dropFirst(pairsOfKind.count)
            switch kind {
            case .insert: try insert(pairsOfKind, into: pairs)
            case .delete: for pair in pairsOfKind { try delete(pair, from: pairs) }
            case .move: for pair in pairsOfKind { try move(pair, in: pairs) }
            }
        }
    }

    /// Inserts pairs. A pair that already exists keeps its positions, unless new ones are given.
    private func insert(_ pairs: ArraySlice<SavePlan.Pair>, into table: SQLPairs) throws {
        var columns = [table.source, table.destination]
        var values = ["?1", "?2"]
        var updates: [String] = []
        for (column, parameter, owner) in [
            (table.position, "?3", "\(table.source) = ?1"), (table.inversePosition, "?4", "\(table.destination) = ?2"),
        ] {
            guard let column else { continue }
            columns.append(column)
            let last = "(SELECT max(\(column)) FROM \(table.table) WHERE \(owner))"
            let first = Self.firstPosition - Self.positionStep
            values.append("IFNULL(\(parameter), IFNULL(\(last), \(first)) + \(Self.positionStep))")
            updates.append("\(column) = IFNULL(\(parameter), \(column))")
        }
        let head = "INTO \(table.table) (\(columns.joined(separator: ", ")))"
        // An upsert instead of a replacement, because triggers count insertions and deletions.
        let conflict = " ON CONFLICT (\(table.source), \(table.destination)) DO "
        guard updates.isEmpty else {
            // One statement for each pair: its position may depend on that of the previous one.
            let statement = try SQLStatement(
                "INSERT \(head) VALUES (\(values.joined(separator: ", ")))\(conflict)UPDATE SET "
                    + updates.joined(separator: ", "), in: database)
            defer { statement.finish() }
            for pair in pairs {
                bind(pair, of: table, to: statement, at: 1)
                if table.position != nil { bind(pair.position, to: statement, at: 3) }
                if table.inversePosition != nil { bind(pair.inversePosition, to: statement, at: 4) }
                try statement.run()
            }
            return
        }
        let insertion = try BlockInsertion(
            table.isReflexive ? "INSERT OR IGNORE \(head)" : "INSERT \(head)", values: "(?, ?)",
            tail: table.isReflexive ? "" : "\(conflict)NOTHING", width: 2, count: pairs.count, in: database)
        try insertion.insert(pairs.count) { index, statement, position in
            bind(pairs[pairs.startIndex + index], of: table, to: statement, at: position)
        }
    }

    private func bind(_ pair: SavePlan.Pair, of table: SQLPairs, to statement: SQLStatement, at position: Int) {
        let isReversed = table.isReflexive && pair.destination < pair.source
        statement.bind(isReversed ? pair.destination : pair.source, at: position)
        statement.bind(isReversed ? pair.source : pair.destination, at: position + 1)
    }

    private func delete(_ pair: SavePlan.Pair, from pairs: SQLPairs) throws {
        let text = "DELETE FROM \(pairs.table) WHERE \(pairs.source) = ? AND \(pairs.destination) = ?"
        try run(text, [pair.source, pair.destination])
        if pairs.isReflexive { try run(text, [pair.destination, pair.source]) }
    }

    private func move(_ pair: SavePlan.Pair, in pairs: SQLPairs) throws {
        for (column, position) in [(pairs.position, pair.position), (pairs.inversePosition, pair.inversePosition)] {
            guard let column, let position else { continue }
            try run(
                "UPDATE \(pairs.table) SET \(column) = ? WHERE \(pairs.source) = ? AND \(pairs.destination) = ?",
                [position, pair.source, pair.destination])
        }
    }

    /// Removes all pairs of a deleted row.
    func deletePairs(of entity: NSEntityDescription, key: Int64) throws {
        for table in schema.joinTables {
            let owner = table.owner.entityIfAny
            let other = table.owner.inverseRelationship?.entityIfAny
            if let owner, entity.isKindOf(entity: owner) {
                try run("DELETE FROM \(table.name) WHERE \(table.sourceColumn) = ?", [key])
            }
            if let other, entity.isKindOf(entity: other) {
                try run("DELETE FROM \(table.name) WHERE \(table.destinationColumn) = ?", [key])
            }
        }
    }

    private func bind(_ position: Int64?, to statement: SQLStatement, at place: Int) {
        if let position { statement.bind(position, at: place) } else { statement.bindNull(at: place) }
    }

    private func run(_ text: String, _ arguments: [Int64]) throws {
        let statement = try SQLStatement(text, in: database)
        for (position, argument) in arguments.enumerated() { statement.bind(argument, at: position + 1) }
        try statement.run()
    }
}
