import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// Finds the stored rows with which a plan conflicts, inside a transaction and before anything is written.
struct ConflictFinder {
    private let content: SQLiteStore.Content
    private let store: UInt16
    private let database: Database

    init(content: SQLiteStore.Content, store: UInt16, database: Database) {
        (self.content, self.store, self.database) = (content, store, database)
    }

    /// Cost: a statement for each row of the plan, and for each value of a constraint that the plan writes.
    func conflicts(of plan: SavePlan) throws -> SaveConflicts {
        var conflicts = SaveConflicts()
        for (entity, rows) in plan.expectedRows {
            conflicts.stale += try stale(content.schema.requireEntity(entity), rows) { stored, expected in
                stored.map { expected != nil && expected != $0 } ?? true
            }
        }
        for group in plan.inserts {
            // A deleted row that is inserted again may have been inserted again by another context too.
            conflicts.stale += try stale(
                content.schema.requireEntity(group.entity), group.changes.map { ($0.key, 0) }
            ) { stored, _ in stored != nil }
        }
        conflicts.taken = try UniqueValues(plan, schema: content.schema, store: store).conflicts(holders)
        return conflicts
    }

    private func stale(
        _ entity: SQLEntity, _ rows: [SavePlan.ExpectedRow], where isStale: (Int64?, Int64?) -> Bool
    ) throws -> [SaveConflicts.Stale] {
        guard !rows.isEmpty else { return [] }
        let statement = try SQLStatement(
            SQLSelect([SQLAssignment.storedVersion], from: entity.table, where: .key), in: database)
        var stale: [SaveConflicts.Stale] = []
        for (key, version) in rows {
            statement.bind(key, at: 1)
            let stored = try statement.step() ? statement.integer(0) : nil
            statement.finish()
            if isStale(stored, version) {
                stale.append(try current(entity, key: key, version: version ?? 0))
            }
        }
        return stale
    }

    /// A conflict over a row, with its present values.
    func current(
        _ entity: SQLEntity, key: Int64, version: Int64
    ) throws -> SaveConflicts.Stale {
        let reader = content.reader(of: entity, store: store)
        let statement = try SQLStatement(
            SQLSelect([reader.plan.list], from: entity.table, where: .key), in: database)
        defer { statement.finish() }
        statement.bind(key, at: 1)
        var stale = SaveConflicts.Stale(entity: entity.entity.index, key: key, expectedVersion: version)
        if try statement.step(), let position = reader.readRow(statement) {
            stale.current = (reader.pages[Int(position.page)], Int(position.row))
        }
        return stale
    }

    private func holders(
        _ entity: SQLEntity, _ constraint: UniqueValues.Constraint, _ rows: [UniqueValues.Row], leaving: Set<Int64>
    ) throws -> [Int: ObjectKey] {
        let finder = ConstraintFinder(entity, schema: content.schema, store: store)
        var writer = ValueWriter(schema: content.schema, externalData: nil)
        var found: [Int: ObjectKey] = [:]
        for (index, row) in rows.enumerated() {
            let holder = try finder.holder(of: row.values, constraint, except: row.key, writer: &writer, in: database)
            if let holder, !leaving.contains(holder.number) { found[index] = holder }
        }
        return found
    }
}
