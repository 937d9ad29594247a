import Foundation
import GRDB

/// Writes the tables of many-to-many relationships.
struct PairWriter {
    let schema: SQLSchema
    let database: Database

    /// The first position in an order, and the distance of one to the next.
    private static let firstPosition = 2048
    private static let positionStep = 1024

    func write(_ group: SavePlan.PairGroup) throws {
        guard let pairs = schema.pairs(of: group.relationship) else {
            throw CocoaError(
                .persistentStoreSave,
                "The relationship “\(group.relationship.name)” is not kept in a table of its own.")
        }
        // Made for the first pair that is inserted, used for all.
        var insertion: SQLStatement?
        defer { insertion?.finish() }
        for pair in group.pairs {
            switch pair.kind {
            case .insert:
                let statement = try insertion ?? SQLStatement(insertionText(pairs), in: database)
                insertion = statement
                try insert(pair, into: pairs, by: statement)
            case .delete: try delete(pair, from: pairs)
            case .move: try move(pair, in: pairs)
            }
        }
    }

    /// Inserts a pair. One that is there already keeps its place, unless it gets another.
    private func insertionText(_ pairs: SQLPairs) -> String {
        if pairs.isReflexive {
            return "INSERT OR IGNORE INTO \(pairs.table) (\(pairs.source), \(pairs.destination)) VALUES (?, ?)"
        }
        var columns = [pairs.source, pairs.destination]
        var values = ["?1", "?2"]
        var updates: [String] = []
        for (column, parameter, owner) in [
            (pairs.position, "?3", "\(pairs.source) = ?1"), (pairs.inversePosition, "?4", "\(pairs.destination) = ?2"),
        ] {
            guard let column else { continue }
            columns.append(column)
            let last = "(SELECT max(\(column)) FROM \(pairs.table) WHERE \(owner))"
            let first = Self.firstPosition - Self.positionStep
            values.append("IFNULL(\(parameter), IFNULL(\(last), \(first)) + \(Self.positionStep))")
            updates.append("\(column) = IFNULL(\(parameter), \(column))")
        }
        // An upsert and no replacement: triggers count what is inserted and deleted.
        let conflict = updates.isEmpty ? "DO NOTHING" : "DO UPDATE SET \(updates.joined(separator: ", "))"
        return "INSERT INTO \(pairs.table) (\(columns.joined(separator: ", "))) "
            + "VALUES (\(values.joined(separator: ", "))) "
            + "ON CONFLICT (\(pairs.source), \(pairs.destination)) \(conflict)"
    }

    private func insert(_ pair: SavePlan.Pair, into pairs: SQLPairs, by statement: SQLStatement) throws {
        let isReversed = pairs.isReflexive && pair.destination < pair.source
        statement.bind(isReversed ? pair.destination : pair.source, at: 1)
        statement.bind(isReversed ? pair.source : pair.destination, at: 2)
        if pairs.position != nil { bind(pair.position, to: statement, at: 3) }
        if pairs.inversePosition != nil { bind(pair.inversePosition, to: statement, at: 4) }
        try statement.run()
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

    /// Removes all pairs of a row that is gone.
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
