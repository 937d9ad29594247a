import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// The sums of members of which a save writes many. Their triggers, whose form is Apple's, would add up all members of an owner for
/// each row; here each sum is computed once.
///
/// The triggers are dropped in the save's transaction and created again with the texts that they had, so that the file keeps its own.
/// Cost: one sum for each owner. Other connections read the schema again, therefore saves of few rows leave the triggers alone.
struct SuspendedSums {
    private struct Suspended {
        let sum: SQLSum
        /// The statements that create the triggers.
        let triggers: [String]
        /// The members of the plan that are inserted or changed.
        let written: [Int64]
        var owners: Set<Int64>
    }

    /// The number of a sum's members from which on it is suspended.
    static let threshold = 32

    private let database: Database
    private var suspended: [Suspended] = []

    /// Drops the triggers of the sums of which a plan writes many members.
    init(_ plan: SavePlan, _ schema: SQLSchema, in database: Database) throws {
        self.database = database
        let count = plan.inserts.reduce(0) { $0 + $1.changes.count } + plan.updates.reduce(0) { $0 + $1.changes.count }
        guard count + plan.deletes.reduce(0, { $0 + $1.changes.count }) >= Self.threshold else { return }
        for sum in schema.sums {
            func isMember(_ index: Int) -> Bool { sum.members.subtree.contains(index) }
            let inserted = plan.inserts.filter { isMember($0.entity.index) }.flatMap { $0.changes.map(\.key) }
            let updated = plan.updates.filter { isMember($0.entity.index) }.flatMap { group in
                group.changes.filter { $0.slots.contains(where: sum.slots.contains) }.map(\.key)
            }
            let deleted = plan.deletes.filter { isMember($0.entity.index) }.flatMap { $0.changes.map(\.key) }
            guard inserted.count + updated.count + deleted.count >= Self.threshold else { continue }
            let triggers = try triggers(of: sum)
            for trigger in triggers { try database.execute(sql: "DROP TRIGGER \"\(trigger.name)\"") }
            suspended.append(
                Suspended(
                    sum: sum, triggers: triggers.map(\.sql), written: inserted + updated,
                    owners: try owners(of: updated + deleted, sum)))
        }
    }

    /// Computes the sums, and creates the triggers again.
    func resume() throws {
        for suspended in suspended {
            let sum = suspended.sum
            let owners = try suspended.owners.union(owners(of: suspended.written, sum)).sorted()
            try run(
                "UPDATE \(sum.table) SET \(sum.column) = \(sum.total(ofOwner: "\(sum.table).Z_PK")) "
                    + "WHERE Z_PK IN (SELECT value FROM json_each(?))", owners)
            try run(
                "SELECT \(SQLSum.reportingFunction)('\(sum.table)', Z_ENT, Z_PK, '\(sum.attribute)', \(sum.column)) "
                    + "FROM \(sum.table) WHERE Z_PK IN (SELECT value FROM json_each(?))", owners)
            for trigger in suspended.triggers { try database.execute(sql: trigger) }
        }
    }

    /// The triggers on the members' table, as the file has them.
    private func triggers(of sum: SQLSum) throws -> [(name: String, sql: String)] {
        let prefix = "Z_DA_\(sum.memberTable)_\(sum.entity)_\(sum.attribute)_PARAMETER_"
        return try Row.fetchAll(
            database,
            sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, ?) = ? ORDER BY name",
            arguments: [prefix.count, prefix]
        ).map { ($0[0], $0[1]) }
    }

    private func owners(of members: [Int64], _ sum: SQLSum) throws -> Set<Int64> {
        guard !members.isEmpty else { return [] }
        let statement = try SQLStatement(
            "SELECT DISTINCT \(sum.ownerColumn) FROM \(sum.memberTable) "
                + "WHERE Z_PK IN (SELECT value FROM json_each(?)) AND \(sum.ownerColumn) NOT NULL", in: database)
        defer { statement.finish() }
        statement.bind(list: members, at: 1)
        var owners: Set<Int64> = []
        while try statement.step() { owners.insert(statement.integer(0)) }
        return owners
    }

    private func run(_ sql: String, _ keys: [Int64]) throws {
        let statement = try SQLStatement(sql, in: database)
        defer { statement.finish() }
        statement.bind(list: keys, at: 1)
        try statement.run()
    }
}
