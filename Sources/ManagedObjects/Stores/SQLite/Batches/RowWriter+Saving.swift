import Foundation
import GRDB
import SQLiteConnections

// Saves of contexts as parts of a transaction that writes rows.

extension RowWriter: SaveTransaction {
    var number: UInt16 { batch.store }

    /// Saves a context's changes as a part of the transaction. The context's fetches read the rows that the transaction has
    /// written, because a read within a write uses its connection. The context posts no notifications; those of the
    /// transaction contain its changes.
    ///
    /// - Throws: As the context's ``NSManagedObjectContext/save()``. The transaction must then be rolled back.
    public func save(_ context: NSManagedObjectContext) throws {
        try flush()
        context.saveTransaction = self
        context.heldNotifications = []
        defer {
            context.saveTransaction = nil
            context.heldNotifications = nil
        }
        try context.save()
        // Ordered relationships may have new last members.
        forgetLastPositions()
    }

    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        let counter = try self.counter(of: batch.schema.requireEntity(entity.rootEntity))
        let (end, overflows) = counter.last.addingReportingOverflow(Int64(max(1, count)))
        if overflows { throw CocoaError.noPrimaryKeysLeft(of: entity.rootEntity, nil) }
        defer { counter.last = end }
        return (counter.last + 1)...end
    }

    func write(_ plan: SavePlan) throws -> SaveOutcome {
        var writer = PlanWriter(
            store: batch.store, content: batch.content, database: batch.database, history: batch.takeHistory())
        defer { batch.take(files: writer.values.filesMade) }
        try writer.write(plan, url: nil)
        batch.take(writer.history, replacing: writer.filesReplaced)
        try note(plan)
        return writer.outcome
    }

    func conflicts(of plan: SavePlan) throws -> SaveConflicts {
        try ConflictFinder(content: batch.content, store: batch.store, database: batch.database).conflicts(of: plan)
    }

    /// Adds the changed rows of a plan to the outcome. Their versions are not incremented again.
    private func note(_ plan: SavePlan) throws {
        for group in plan.inserts {
            for change in group.changes { didInsert(group.entity.index, key: change.key) }
        }
        for group in plan.updates {
            let counter = try self.counter(of: batch.schema.requireEntity(group.entity.rootEntity))
            for change in group.changes where counter.mustRaise(change.key) {
                didUpdate(group.entity.index, key: change.key)
            }
        }
        for group in plan.deletes {
            for change in group.changes { didDelete(group.entity.index, key: change.key) }
        }
    }
}
