import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// Writes the join tables of many-to-many relationships.
struct PairWriter {
    let schema: SQLSchema
    let database: Database

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
            case .delete: try delete(pairsOfKind, from: pairs)
            case .move: try move(pairsOfKind, in: pairs)
            }
        }
    }

    private func insert(_ pairs: ArraySlice<SavePlan.Pair>, into table: SQLPairs) throws {
        if let insertion = table.orderedInsertion {
            // One statement for each pair: its position may depend on that of the previous one.
            let statement = try SQLStatement(insertion, in: database)
            defer { statement.finish() }
            for pair in pairs {
                bind(pair, of: table, to: statement, at: 1)
                if table.position != nil { bind(pair.position, to: statement, at: 3) }
                if table.inversePosition != nil { bind(pair.inversePosition, to: statement, at: 4) }
                try statement.run()
            }
            return
        }
        let insertion = try RowBlockInserter(table.insertion, width: 2, count: pairs.count, in: database)
        try insertion.insert(pairs.count) { index, statement, position in
            bind(pairs[pairs.startIndex + index], of: table, to: statement, at: position)
        }
    }

    private func bind(_ pair: SavePlan.Pair, of table: SQLPairs, to statement: SQLStatement, at position: Int) {
        let isReversed = table.isReflexive && pair.destination < pair.source
        statement.bind(isReversed ? pair.destination : pair.source, at: position)
        statement.bind(isReversed ? pair.source : pair.destination, at: position + 1)
    }

    private func delete(_ pairs: ArraySlice<SavePlan.Pair>, from table: SQLPairs) throws {
        let statement = try SQLStatement(table.deletion, in: database)
        for pair in pairs {
            try run(statement, [pair.source, pair.destination])
            if table.isReflexive { try run(statement, [pair.destination, pair.source]) }
        }
    }

    private func move(_ pairs: ArraySlice<SavePlan.Pair>, in table: SQLPairs) throws {
        let update = try table.position.map { try SQLStatement(table.update(ofPosition: $0), in: database) }
        let inverse = try table.inversePosition.map { try SQLStatement(table.update(ofPosition: $0), in: database) }
        for pair in pairs {
            for (statement, position) in [(update, pair.position), (inverse, pair.inversePosition)] {
                guard let statement, let position else { continue }
                try run(statement, [position, pair.source, pair.destination])
            }
        }
    }

    /// The statements that delete the pairs of a row of an entity. Parameter: the key.
    func deletions(of entity: SQLEntity) -> [SQLDelete] {
        schema.joinTables.flatMap { table in
            schema.columns(of: table, referringTo: entity).map { SQLDelete(from: table.name, where: .equals($0)) }
        }
    }

    /// Removes all pairs of a deleted row.
    func deletePairs(by deletions: [SQLDelete], key: Int64) throws {
        for deletion in deletions { try run(SQLStatement(deletion, in: database), [key]) }
    }

    private func bind(_ position: Int64?, to statement: SQLStatement, at index: Int) {
        if let position { statement.bind(position, at: index) } else { statement.bindNull(at: index) }
    }

    private func run(_ statement: SQLStatement, _ arguments: [Int64]) throws {
        for (position, argument) in arguments.enumerated() { statement.bind(argument, at: position + 1) }
        try statement.run()
    }
}
