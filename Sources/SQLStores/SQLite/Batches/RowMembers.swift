import Foundation
import GRDB
import ManagedObjects
import SQLiteConnections
import SQLStatements

/// A to-many relationship of a table's rows that is stored in a join table. Created by ``EntityRows/members(named:)``.
package final class RowMembers: RowRelationship {
    private let pairs: SQLPairs
    private let insertions: PairBuffer
    private let deletion: RepeatedStatement
    /// The index among the entity's to-many relationships.
    private let index: Int
    /// The index of the inverse among the destination's to-many relationships, if the store uses a join table.
    private let inverseIndex: Int?

    fileprivate init(
        _ relationship: NSRelationshipDescription, pairs: SQLPairs, index: Int, table: EntityRows, other: EntityRows,
        inverseIndex: Int?
    ) {
        self.pairs = pairs
        insertions = table.writer.insertions(into: pairs)
        deletion = RepeatedStatement(pairs.deletion)
        self.index = index
        self.inverseIndex = inverseIndex
        super.init(relationship, of: table, to: other)
    }

    /// The members of rows, as pairs of the row's key and the member's, ordered by the row's key and the member's. At
    /// most `EntityRows.lookupCount` rows; one statement, after those that write the members added before.
    package func members(of keys: some Collection<Int64>) throws -> [(key: Int64, member: Int64)] {
        try insertions.write()
        let columns = [pairs.source, pairs.destination]
        let selection = SQLSelect(columns, from: pairs.table, where: .listed(pairs.source), orderBy: columns)
        let statement = try SQLStatement(selection, in: database)
        defer { statement.finish() }
        statement.bind(list: keys, at: 1)
        var members: [(key: Int64, member: Int64)] = []
        while try statement.step() { members.append((statement.integer(0), statement.integer(1))) }
        return members
    }

    /// Adds members to a row. They are written in blocks, at the latest by ``RowWriter/flush()``.
    package func add(_ members: some Sequence<Int64>, to key: Int64) throws {
        for member in members {
            try insertions.add(key, member, of: pairs)
            writer.touch(member, other.counter, toMany: inverseIndex)
        }
        writer.touch(key, table.counter, toMany: index)
    }

    /// Removes members from a row.
    package func remove(_ members: some Sequence<Int64>, from key: Int64) throws {
        try insertions.write()
        let statement = try deletion.prepared(in: database)
        statement.bind(key, at: 1)
        for member in members {
            statement.bind(member, at: 2)
            try statement.run()
            writer.touch(member, other.counter, toMany: inverseIndex)
        }
        writer.touch(key, table.counter, toMany: index)
    }
}

extension EntityRows {
    /// A to-many relationship of the rows; nil if only objects can set it: one that is stored in the members' rows, is
    /// ordered, or is its own inverse.
    package func members(named name: String) -> RowMembers? {
        guard let (relationship, other) = supportedRelationship(named: name, isToMany: true),
            let index = layout.toMany.firstIndex(where: { $0.relationship === relationship }),
            layout.toMany[index].isPersistent, let pairs = writer.batch.schema.pairs(of: relationship),
            pairs.position == nil, pairs.inversePosition == nil, !pairs.isReflexive
        else { return nil }
        let inverseIndex = relationship.inverseRelationship.flatMap { inverse in
            other.layout.toMany.firstIndex { $0.relationship === inverse }
        }
        return RowMembers(
            relationship, pairs: pairs, index: index, table: self, other: other, inverseIndex: inverseIndex)
    }
}

/// Pairs to be inserted into a join table, unless they exist. Both sides of the relationship share them, and write them in blocks
/// before the table is read or pairs are deleted.
final class PairBuffer {
    /// The number of waiting pairs that are written together.
    private static let limit = 512

    private let pairs: SQLPairs
    private let database: Database
    private var waiting: ContiguousArray<(source: Int64, destination: Int64)> = []

    /// - Parameter pairs: The table in the orientation of one side.
    init(_ pairs: SQLPairs, in database: Database) {
        self.pairs = pairs
        self.database = database
    }

    /// Adds a pair of keys in the orientation of a side.
    func add(_ key: Int64, _ member: Int64, of side: SQLPairs) throws {
        waiting.append(side.source == pairs.source ? (key, member) : (member, key))
        if waiting.count == Self.limit { try write() }
    }

    /// Writes the waiting pairs: one statement for each block of them.
    func write() throws {
        if waiting.isEmpty { return }
        defer { waiting.removeAll(keepingCapacity: true) }
        let insertion = try RowBlockInserter(pairs.insertion, width: 2, count: waiting.count, in: database)
        try insertion.insert(waiting.count) { index, statement, position in
            statement.bind(waiting[index].source, at: position)
            statement.bind(waiting[index].destination, at: position + 1)
        }
    }
}
