import CoreData

extension GraphCopier {
    /// Copies objects of a container's stores in the background, saves the copies, and merges them into the `viewContext`.
    ///
    ///     let copies = try await GraphCopier().copy(ids, in: container)
    ///
    /// If the rules need no objects, the store makes the copies itself, in one transaction. Otherwise all copies are saved together.
    /// With `inBatches` each batch is saved separately and its objects are released. Memory then holds IDs, and the rows of one batch
    /// and of the objects that it refers to. If an error occurs, the saved copies are deleted again. Objects that cannot be saved
    /// without each other are in one batch, however many they are.
    ///
    /// Throws as `copy(_:into:store:progress:)` does; cancelling the task throws `CocoaError.userCancelled`.
    ///
    /// - Returns: The permanent IDs of all copies by the IDs of their originals.
    public func copy(
        _ ids: [NSManagedObjectID], in container: NSPersistentContainer, inBatches: Bool = false,
        progress: Progress? = nil
    ) async throws -> [NSManagedObjectID: NSManagedObjectID] {
        try await container.performMerging(progress) { context, progress in
            if case .rows(let copies) = try copyRows(ids, in: context, progress: progress) {
                // The store has made the copies without a save of the context.
                container.viewContext.enqueueMerge([NSInsertedObjectsKey: Array(copies.values)])
                return copies
            }
            return try inBatches
                ? copyInBatches(ids, in: context, progress: progress)
                : copyTogether(ids, in: context, progress: progress)
        }
    }

    /// How `copy(_:in:inBatches:progress:)` would copy objects: in the store, or through managed objects, with the first
    /// reason for it.
    ///
    /// The rules are checked first. If they permit rows, the store makes the copies and rolls them back, because the
    /// contents of the store may need objects. Cost: that of copying by rows.
    ///
    /// Throws as `copy(_:into:store:progress:)` does for rules that do not fit the model.
    package func explain(
        _ ids: [NSManagedObjectID], in container: NSPersistentContainer
    ) async throws -> ExecutionPath {
        let context = container.newBackgroundContext()
        return try await context.perform { [self] in
            try copyRows(ids, in: context, saves: false, progress: nil).path
        }
    }

    /// Copies in the store. Returns a reason, without changes, if copying requires objects.
    private func copyRows(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, saves: Bool = true, progress: Progress?
    ) throws -> RowCapability<[NSManagedObjectID: NSManagedObjectID]> {
        if validates { return .objects(because: ObjectsReason(.options, "The copies are validated (validates).")) }
        guard !ids.isEmpty, let model = context.rootCoordinator?.managedObjectModel else { return .rows([:]) }
        let blueprint = try CopyBlueprint(shape, rules, model: model, targetModel: model)
        try blueprint.prepare(from: ids.map(\.entity))
        return try Engine.current.copyRows(
            of: ids, in: context, by: blueprint, choice: rowCopying, saves: saves, progress: progress)
    }

    private func copyTogether(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, progress: Progress
    ) throws -> [NSManagedObjectID: NSManagedObjectID] {
        guard !ids.isEmpty else { return [:] }
        var copier = self
        copier.saves = true
        return try context.readingOneState {
            let session = try CopySession(
                copier, roots: ids, source: context, target: context, store: nil, progress: progress)
            return try session.run(roots: ids).objectIDs
        }
    }

    /// Copies in batches: saves each batch and releases its objects.
    func copyInBatches(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, progress: Progress
    ) throws -> [NSManagedObjectID: NSManagedObjectID] {
        guard !ids.isEmpty, let coordinator = context.persistentStoreCoordinator else { return [:] }
        // After a save a context reads a newer state of the store, so the originals are read from a snapshot of the initial
        // state.
        let source = try StoreSnapshot(of: coordinator).makeContext()
        return try source.performAndWait {
            let session = try CopySession(
                self, roots: ids, source: source, target: context, store: nil, progress: progress, ownsSource: true)
            do {
                let copies = try session.runInBatches()
                return Dictionary(zip(session.graph.nodes.map(\.id), copies), uniquingKeysWith: { first, _ in first })
            } catch {
                try session.removeSaved()
                throw error
            }
        }
    }
}
