import CoreData

extension GraphCopier {
    /// Copies objects of a container's stores in the background, and saves the copies.
    ///
    ///     let copies = try await GraphCopier().copy(ids, in: container)
    ///
    /// Where the rules allow it the store makes the copies itself, in one transaction and without objects; see
    /// `RowCopying`. Else all copies are saved together. With `inBatches` each batch is saved by itself and let go, so that memory holds
    /// one batch and IDs; where that fails, what was saved is deleted again. Mandatory to-one relationships that lead
    /// to objects of later batches cannot be copied so.
    ///
    /// Throws as `copy(_:into:store:progress:)` does; cancelling the task throws `CocoaError.userCancelled`.
    ///
    /// - Returns: The permanent IDs of all copies by those of their originals.
    public func copy(
        _ ids: [NSManagedObjectID], in container: NSPersistentContainer, inBatches: Bool = false,
        progress: Progress? = nil
    ) async throws -> [NSManagedObjectID: NSManagedObjectID] {
        let progress = progress ?? Progress(totalUnitCount: 0)
        let context = container.newBackgroundContext()
        context.undoManager = nil
        return try await withTaskCancellationHandler {
            try await context.perform { [self] in
                if let copies = try copyRows(ids, in: context, progress: progress) { return copies }
                return try inBatches
                    ? copyInBatches(ids, in: context, progress: progress)
                    : copyTogether(ids, in: context, progress: progress)
            }
        } onCancel: {
            progress.cancel()
        }
    }

    /// Lets the store copy; nil where objects must.
    private func copyRows(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, progress: Progress
    ) throws -> [NSManagedObjectID: NSManagedObjectID]? {
        guard !ids.isEmpty, !validates, let model = context.rootCoordinator?.managedObjectModel else { return nil }
        let blueprint = try CopyBlueprint(rules, model: model, targetModel: model)
        try blueprint.prepare(from: ids.map(\.entity))
        return try blueprint.copyRows(ids, in: context, choice: rowCopying, progress: progress)
    }

    private func copyTogether(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, progress: Progress
    ) throws -> [NSManagedObjectID: NSManagedObjectID] {
        guard !ids.isEmpty else { return [:] }
        var copier = self
        copier.saves = true
        let session = try CopySession(
            copier, roots: ids, source: context, target: context, store: nil, progress: progress)
        return try session.run(roots: ids).objectIDs
    }

    private func copyInBatches(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, progress: Progress
    ) throws -> [NSManagedObjectID: NSManagedObjectID] {
        guard !ids.isEmpty else { return [:] }
        let session = try CopySession(
            self, roots: ids, source: context, target: context, store: nil, progress: progress)
        let cleaner = CopyCleaner(context)
        do {
            for range in session.batches {
                try session.make(range)
                session.connectMandatory(range, cleaner: cleaner)
                try session.saveAndForget(range)
            }
            for isOrdered in [false, true] {
                for range in session.batches {
                    try session.connect(range, isOrdered: isOrdered, cleaner: cleaner)
                    try session.saveAndForget(range)
                }
            }
            try session.callConnectHooks()
            try context.save()
        } catch {
            context.rollback()
            try delete(session.madeIDs.filter { !$0.isTemporaryID }, relationships: session, in: context)
            throw error
        }
        return Dictionary(zip(session.graph.nodes.map(\.id), session.madeIDs), uniquingKeysWith: { first, _ in first })
    }

    /// Takes back saved copies, batch by batch. They let go of what they are related to first.
    private func delete(
        _ ids: [NSManagedObjectID], relationships session: CopySession, in context: NSManagedObjectContext
    ) throws {
        for start in stride(from: 0, to: ids.count, by: max(batchSize, 1)) {
            for number in start..<min(start + max(batchSize, 1), ids.count) {
                let copy = context.object(with: ids[number])
                for relationship in session.graph.nodes[number].entity.relationships {
                    copy.setValue(nil, forKey: relationship.target.name)
                }
                context.delete(copy)
            }
            try context.save()
            context.reset()
        }
    }
}
