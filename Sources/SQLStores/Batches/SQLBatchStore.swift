import CoreDataErrors
import Foundation
import ManagedObjects

/// A store in an SQL database that executes batch requests: many rows are changed by few statements, in one transaction,
/// without objects.
protocol SQLBatchStore: SQLRowStore, BatchStore {
    associatedtype Transaction: RowTransaction

    /// Runs work in one transaction, which is rolled back on an error.
    ///
    /// - Parameter isRepeatable: Whether the work may be done again if the database has ended the transaction because of
    ///   concurrent ones.
    func writing<Result>(
        _ context: NSManagedObjectContext, isRepeatable: Bool, _ body: (Transaction) throws -> Result
    ) throws -> Result

    /// Inserts rows; those with unique values of stored rows are treated according to the merge policy. Returns the keys of the
    /// inserted and changed rows.
    func insert(
        _ rows: BatchRows, into sqlEntity: SQLEntity, policy: NSMergePolicyType, in transaction: Transaction
    ) throws -> [ObjectKey]
}

extension SQLBatchStore {
    package func executeBatch(
        _ request: NSPersistentStoreRequest, for context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult? {
        if let stores = request.affectedStores, !stores.contains(where: { $0 === self }) { return nil }
        let content = try content()
        let model = content.model
        switch request {
        case let request as NSBatchInsertRequest:
            let entity = try request.target.entity(in: model)
            guard let sqlEntity = content.schema.entity(entity) else { return nil }
            return try insert(request, entity, sqlEntity, context)
        case let request as NSBatchUpdateRequest:
            let entity = try request.target.entity(in: model)
            guard let sqlEntity = content.schema.entity(entity) else { return nil }
            return try update(request, entity, sqlEntity, content, context)
        case let request as NSBatchDeleteRequest:
            let entity = try request.fetchRequest.specification.entity(in: model)
            guard let sqlEntity = content.schema.entity(entity) else { return nil }
            return try delete(request, entity, sqlEntity, context)
        default: return nil
        }
    }

    // MARK: - The requests

    private func insert(
        _ request: NSBatchInsertRequest, _ entity: NSEntityDescription, _ sqlEntity: SQLEntity,
        _ context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult {
        let rows = try BatchRows(request, entity: entity, store: self)
        let policy = (context.mergePolicy as? NSMergePolicy)?.mergeType ?? .errorMergePolicyType
        let keys = try writing(context, isRepeatable: false) { batch in
            try insert(rows, into: sqlEntity, policy: policy, in: batch)
        }
        let result: Any =
            switch request.resultType {
            case .statusOnly: true
            case .objectIDs: objectIDs(of: keys)
            case .count: keys.count
            }
        return NSBatchInsertResult(result, type: request.resultType)
    }

    /// - Parameter check: Called in the transaction, before rows are changed.
    func update(
        _ request: NSBatchUpdateRequest, _ entity: NSEntityDescription, _ sqlEntity: SQLEntity, _ content: Content,
        _ context: NSManagedObjectContext,
        after check: (Transaction) throws -> Void = { _ in }
    ) throws -> NSPersistentStoreResult {
        var query = RowQuery(
            entity: entity, predicate: try request.predicate?.converted(for: entity, in: persistentStoreCoordinator))
        query.includesSubentities = request.includesSubentities
        let selection = BatchSelection.query(query, self)
        let assignments = try BatchAssignments(
            request.propertiesToUpdate ?? [:], of: sqlEntity, layout: entity.layout, compiler: content.compiler,
            store: self)
        let returnsKeys = request.resultType == .updatedObjectIDsResultType
        let (keys, count) = try writing(context, isRepeatable: true) { batch in
            try check(batch)
            var updater = BatchUpdater(sqlEntity, batch: batch)
            defer { batch.take(files: updater.values.filesMade) }
            return try updater.update(selection, assignments: assignments, returnsKeys: returnsKeys)
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
        _ request: NSBatchDeleteRequest, _ entity: NSEntityDescription, _ sqlEntity: SQLEntity,
        _ context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult {
        let selection = try selection(of: request, entity)
        let keys = try writing(context, isRepeatable: true) { batch in
            var deleter = BatchDeleter(batch: batch)
            return try deleter.delete(selection.keys(of: sqlEntity, in: batch))
        }
        let result: Any =
            switch request.resultType {
            case .resultTypeStatusOnly: true
            case .resultTypeObjectIDs: objectIDs(of: keys)
            case .resultTypeCount: keys.count
            }
        return NSBatchDeleteResult(result, type: request.resultType)
    }

    private func selection(of request: NSBatchDeleteRequest, _ entity: NSEntityDescription) throws -> BatchSelection {
        let coordinator = persistentStoreCoordinator
        guard let ids = request.objectIDs else {
            let specification = try request.fetchRequest.specification.converted(for: entity, in: coordinator)
            return .query(specification.rowQuery(entity: entity), self)
        }
        guard ids.allSatisfy({ $0.entity.rootEntity.name == entity.rootEntity.name }) else {
            throw CocoaError(
                .coreData, "The objects of a batch deletion must all be of one entity's hierarchy.", url: url)
        }
        var keys: [Int64] = []
        for id in ids where !id.isTemporaryID {
            if let key = coordinator?.key(for: id), key.store == number { keys.append(key.number) }
        }
        return .keys(keys)
    }

    private func objectIDs(of keys: [ObjectKey]) -> [NSManagedObjectID] {
        guard let coordinator = persistentStoreCoordinator else { return [] }
        return keys.map(coordinator.objectID(for:))
    }
}
