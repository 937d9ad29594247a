import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import SQLiteConnections

// Saves of contexts as parts of a transaction that writes rows.

extension RowWriter: SaveTransaction {
    package var number: UInt16 { batch.store }

    /// Saves a context's changes as a part of the transaction. The context's fetches read the rows that the transaction has
    /// written, because a read within a write uses its connection. The context posts no notifications; those of the
    /// transaction contain its changes.
    ///
    /// - Throws: As the context's ``NSManagedObjectContext/save()``. The transaction must then be rolled back.
    package func save(_ context: NSManagedObjectContext) throws {
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

    package func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        let counter = try self.counter(of: batch.schema.requireEntity(entity.rootEntity))
        let (end, overflows) = counter.last.addingReportingOverflow(Int64(max(1, count)))
        if overflows { throw CocoaError.noPrimaryKeysLeft(ofEntity: entity.rootEntity.name, nil) }
        defer { counter.last = end }
        return (counter.last + 1)...end
    }

    package func write(_ plan: SavePlan) throws -> SaveOutcome {
        var writer = PlanWriter(
            store: batch.store, content: batch.content, database: batch.database, history: batch.takeHistory())
        defer { batch.take(files: writer.values.filesMade) }
        try writer.write(plan, url: nil)
        batch.take(writer.history, replacing: writer.filesReplaced)
        try note(plan)
        return writer.outcome
    }

    package func conflicts(of plan: SavePlan) throws -> SaveConflicts {
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

/// The changes made by writing rows.
struct RowOutcome {
    /// Inserted rows as ranges of keys: adjacent keys of one entity are one entry.
    private(set) var inserted: [(entity: Int, keys: ClosedRange<Int64>)] = []
    var updated: [ObjectKey] = []
    var deleted: [ObjectKey] = []

    mutating func insert(_ entity: Int, _ key: Int64) {
        if let last = inserted.last, last.entity == entity, last.keys.upperBound == key - 1 {
            inserted[inserted.count - 1].keys = last.keys.lowerBound...key
        } else {
            inserted.append((entity, key...key))
        }
    }
}

/// The result of validating a row before it is written.
package enum RowValidity {
    case valid
    /// The value of the attribute with this name violates a rule of the model.
    case invalid(String)
    /// The stored value of the attribute with this name is in a form that only an object can validate.
    case needsObject(String)
}

/// A row was not written, because another row has values that must be unique.
package struct UniquenessViolation: Error {
    /// The name of the row's entity.
    package let entity: String
    /// Whether the table had rows before the transaction: a later change of one of them may release the values.
    package let hadRows: Bool

    /// The error of a save with such a row.
    package var error: CocoaError {
        CocoaError(
            .managedObjectConstraintMerge,
            "An object of “\(entity)” has values that another one has, and that must be unique.")
    }
}
