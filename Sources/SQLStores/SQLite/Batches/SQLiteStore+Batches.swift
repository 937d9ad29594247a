import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import SQLiteConnections

// Batch requests, and other requests that change rows without objects.

extension SQLiteStore: SQLBatchStore {
    func insert(
        _ rows: BatchRows, into sqlEntity: SQLEntity, policy: NSMergePolicyType, in batch: BatchTransaction
    ) throws -> [ObjectKey] {
        var inserter = try BatchInserter(sqlEntity, batch: batch, policy: policy)
        defer { batch.take(files: inserter.values.filesMade) }
        return try inserter.insert(rows)
    }

    /// Copies rows with set operations; see `RowCopyRequest`.
    func copyRows(
        _ keys: [ObjectKey], by request: RowCopyRequest, coordinator: NSPersistentStoreCoordinator,
        context: NSManagedObjectContext
    ) throws -> RowCopyOutcome {
        do {
            let plan = try RowCopyPlan(request, of: keys, schema: content().schema)
            let (pairs, changed) = try writing(context, isRepeatable: false) { batch in
                do {
                    let result = try RowCopier(request, by: plan, batch: batch).copy(keys)
                    if request.isDryRun { throw RowCopyDryRun() }
                    return result
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                    throw RowCopyObstacle(.rows, "A copy would violate a constraint.")
                }
            }
            let id = coordinator.objectID(for:)
            return .copied(
                RowCopyResult(
                    originals: pairs.map { id($0.original) }, copies: pairs.map { id($0.copy) },
                    changed: changed.map(id)))
        } catch let obstacle as RowCopyObstacle {
            return .needsObjects(because: obstacle)
        } catch is RowCopyDryRun {
            return .copied(RowCopyResult(originals: [], copies: [], changed: []))
        }
    }

    /// Rolls back a copy that is made only to determine whether it can be made.
    private struct RowCopyDryRun: Error {}

    /// Calls a closure that writes rows; see `RowWriter`.
    func writeRows<Result>(
        context: NSManagedObjectContext, _ body: (RowWriter) throws -> Result
    ) throws -> (Result, RowOutcome) {
        try writing(context, isRepeatable: false) { batch in
            let writer = RowWriter(batch, coordinator: persistentStoreCoordinator)
            let result = try body(writer)
            try writer.finish()
            return (result, writer.outcome)
        }
    }

    // MARK: - Transactions

    func writing<Result>(
        _ context: NSManagedObjectContext, isRepeatable: Bool, _ body: (BatchTransaction) throws -> Result
    ) throws -> Result {
        let content = try content()
        guard !isReadOnly else {
            throw CocoaError(.persistentStoreSave, "The store is opened for reading only.", url: url)
        }
        do {
            let result = try content.write { database, files in
                let batch = BatchTransaction(
                    content: content, database: database, store: number, author: context.transactionAuthor,
                    contextName: context.name)
                defer { files = TransactionFiles(made: batch.filesMade, replaced: batch.filesReplaced) }
                let result = try body(batch)
                try batch.finish()
                return result
            }
            content.commits.didWrite()
            return result
        } catch {
            throw SQLiteError.translated(error, .saving, url: url)
        }
    }
}
