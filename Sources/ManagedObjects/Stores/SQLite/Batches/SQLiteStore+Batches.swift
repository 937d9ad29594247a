import Foundation
import GRDB

// Batch requests: many rows are changed by few statements, in one transaction, without objects.

extension SQLiteStore: BatchStore {
    func executeBatch(
        _ request: NSPersistentStoreRequest, for context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult? {
        if let stores = request.affectedStores, !stores.contains(where: { $0 === self }) { return nil }
        let content = try content()
        let model = content.schema.model
        switch request {
        case let request as NSBatchInsertRequest:
            guard let place = content.schema.entity(try request.target.entity(in: model)) else { return nil }
            return try insert(request, place, content, context)
        case let request as NSBatchUpdateRequest:
            guard let place = content.schema.entity(try request.target.entity(in: model)) else { return nil }
            return try update(request, place, content, context)
        case let request as NSBatchDeleteRequest:
            guard let place = content.schema.entity(try request.fetchRequest.specification.entity(in: model)) else {
                return nil
            }
            return try delete(request, place, content, context)
        default: return nil
        }
    }

    // MARK: - The requests

    private func insert(
        _ request: NSBatchInsertRequest, _ place: SQLEntity, _ content: Content, _ context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult {
        let rows = try BatchRows(request, entity: place.entity, store: number)
        let policy = (context.mergePolicy as? NSMergePolicy)?.mergeType ?? .errorMergePolicyType
        let keys = try writing(content, context) { batch in
            var inserter = try BatchInserter(place, batch: batch, policy: policy)
            defer { batch.take(files: inserter.values.filesMade) }
            return try inserter.insert(rows)
        }
        let result: Any =
            switch request.resultType {
            case .statusOnly: true
            case .objectIDs: objectIDs(of: keys)
            case .count: keys.count
            }
        return NSBatchInsertResult(result, type: request.resultType)
    }

    private func update(
        _ request: NSBatchUpdateRequest, _ place: SQLEntity, _ content: Content, _ context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult {
        var query = RowQuery(entity: place.entity, predicate: try request.predicate?.converted(for: place.entity))
        query.includesSubentities = request.includesSubentities
        let selection = try BatchSelection(query, store: self, content: content)
        let assignments = try BatchAssignments(
            request.propertiesToUpdate ?? [:], of: place, schema: content.schema, store: number)
        let wantsKeys = request.resultType == .updatedObjectIDsResultType
        let (keys, count) = try writing(content, context) { batch in
            var updater = BatchUpdater(place, batch: batch)
            defer { batch.take(files: updater.values.filesMade) }
            return try updater.update(selection, assignments: assignments, wantsKeys: wantsKeys)
        }
        let result: Any =
            switch request.resultType {
            case .statusOnlyResultType: true
            case .updatedObjectIDsResultType: objectIDs(of: keys)
            case .updatedObjectsCountResultType: count
            }
        return NSBatchUpdateResult(result, type: request.resultType)
    }

    private func delete(
        _ request: NSBatchDeleteRequest, _ place: SQLEntity, _ content: Content, _ context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult {
        let selection: BatchSelection
        if let ids = request.objectIDs {
            guard ids.allSatisfy({ $0.entity.rootEntity.name == place.entity.rootEntity.name }) else {
                throw CocoaError(
                    .coreData, "The objects of a batch deletion must all be of one entity's hierarchy.", url: url)
            }
            selection = .keys(ids.filter { !$0.isTemporaryID && $0.key.store == number }.map(\.key.number))
        } else {
            let specification = try request.fetchRequest.specification.converted(for: place.entity)
            let query = specification.rowQuery(entity: place.entity)
            selection = try BatchSelection(query, store: self, content: content)
        }
        let keys = try writing(content, context) { batch in
            var deleter = BatchDeleter(batch: batch)
            return try deleter.delete(selection.keys(of: place, in: batch))
        }
        let result: Any =
            switch request.resultType {
            case .resultTypeStatusOnly: true
            case .resultTypeObjectIDs: objectIDs(of: keys)
            case .resultTypeCount: keys.count
            }
        return NSBatchDeleteResult(result, type: request.resultType)
    }

    /// Copies rows with set operations; see `RowCopyRequest`.
    func copyRows(
        _ keys: [ObjectKey], by request: RowCopyRequest, coordinator: NSPersistentStoreCoordinator,
        context: NSManagedObjectContext
    ) throws -> RowCopyOutcome {
        do {
            let (pairs, changed) = try writing(try content(), context) { batch in
                do {
                    let result = try RowCopier(request, batch: batch).copy(keys)
                    if request.isDryRun { throw RowCopyDryRun() }
                    return result
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                    throw RowCopyRefusal("A copy would violate a constraint.")
                }
            }
            let id = coordinator.objectID(for:)
            return .copied(
                RowCopyResult(
                    originals: pairs.map { id($0.original) }, copies: pairs.map { id($0.copy) },
                    changed: changed.map(id)))
        } catch let refusal as RowCopyRefusal {
            return .needsObjects(because: refusal.reason)
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
        try writing(try content(), context) { batch in
            let writer = RowWriter(batch)
            let result = try body(writer)
            try writer.finish()
            return (result, writer.outcome)
        }
    }

    // MARK: - Transactions

    private func writing<Result>(
        _ content: Content, _ context: NSManagedObjectContext, _ body: (BatchTransaction) throws -> Result
    ) throws -> Result {
        guard !isReadOnly else {
            throw CocoaError(.persistentStoreSave, "The store is opened for reading only.", url: url)
        }
        var made: [String] = []
        do {
            let (result, replaced) = try content.connection.write { database in
                let batch = BatchTransaction(
                    content: content, database: database, store: number, author: context.transactionAuthor,
                    contextName: context.name)
                defer { made = batch.filesMade }
                let result = try body(batch)
                try batch.finish()
                return (result, batch.filesReplaced)
            }
            content.externalData?.remove(replaced)
            content.commits.didWrite()
            return result
        } catch {
            content.externalData?.remove(made)
            throw SQLiteError.translated(error, .saving, url: url)
        }
    }

    private func objectIDs(of keys: [ObjectKey]) -> [NSManagedObjectID] {
        guard let coordinator = persistentStoreCoordinator else { return [] }
        return keys.map(coordinator.objectID(for:))
    }
}
