import GRDB
import SQLStores
import SQLiteConnections

/// Pairs to be inserted into a join table, unless they exist. Both sides of the relationship share them, and write them in blocks
/// before the table is read or pairs are deleted.
final class PairInsertions {
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
        let insertion = try BlockInsertion(pairs.insertion, width: 2, count: waiting.count, in: database)
        try insertion.insert(waiting.count) { index, statement, position in
            statement.bind(waiting[index].source, at: position)
            statement.bind(waiting[index].destination, at: position + 1)
        }
    }
}
