import CoreData

// Work in the background of a container: the forms of import, export and copy for asynchronous code. A new context does the work on
// its queue. The merge of what it has saved is in the queue of the view context before the method returns, so that the code after
// `await` sees the result, on the main actor or in a block of `perform`.

extension NSPersistentContainer {
    /// Imports a document in the background, saves the objects, and merges the changes into the `viewContext`: code that follows
    /// on the main actor, or in a block of its `perform`, sees them.
    ///
    ///     let ids = try await container.importObjects(from: .file(url), as: Note.self)
    ///     let notes = ids.map(container.viewContext.object(with:))
    ///
    /// The stores change completely or not at all. Unsaved changes of the `viewContext` are kept.
    ///
    /// Throws as `GraphImporter.importObjects(from:as:progress:)` does, and errors of saving; cancelling the task throws
    /// `CocoaError.userCancelled`. Cost: that of the import, and reading the changed objects that the `viewContext` has.
    ///
    /// - Parameters:
    ///   - source: The document.
    ///   - type: The class of the objects at the top of the document.
    ///   - options: How the document is imported.
    ///   - progress: Counts bytes.
    /// - Returns: The permanent IDs of the objects at the top of the document, in their order.
    @discardableResult
    public func importObjects<Root: NSManagedObject>(
        from source: sending ImportSource, as type: Root.Type = NSManagedObject.self,
        options: sending ImportOptions = ImportOptions(), progress: Progress? = nil
    ) async throws -> [NSManagedObjectID] {
        try await performMerging(progress) { context, progress in
            var importer = GraphImporter(into: context, options: options)
            importer.worksInPlace = true
            let objects = try importer.importObjects(from: source, as: type, progress: progress)
            // Ends with the save, because IDs of new objects are temporary before it.
            try context.save()
            return objects.map(\.objectID)
        }
    }

    /// Runs work in a new background context. What it saves is merged by blocks that are in the queue of the `viewContext` before
    /// this method returns.
    ///
    /// Nothing waits for these blocks. They hold IDs, not objects, so that batches are released while the main queue is busy.
    ///
    /// - Parameters:
    ///   - progress: The caller's progress; nil for one that only ends with the task.
    ///   - work: Saves the context itself.
    func performMerging<Result>(
        _ progress: Progress?, _ work: @escaping (NSManagedObjectContext, Progress) throws -> Result
    ) async throws -> Result {
        let progress = progress ?? Progress(totalUnitCount: 0)
        let context = newBackgroundContext()
        context.undoManager = nil
        let viewContext = viewContext
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { notification in
            viewContext.enqueueMerge(
                [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey].reduce(into: [:]) { changes, key in
                    let objects = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
                    changes[key] = objects.map(\.objectID)
                })
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        return try await withTaskCancellationHandler {
            try await context.perform { try work(context, progress) }
        } onCancel: {
            progress.cancel()
        }
    }
}

extension NSManagedObjectContext {
    /// Merges changes that were saved, when the context's queue runs its next blocks.
    func enqueueMerge(_ changes: [String: [NSManagedObjectID]]) {
        guard PendingMerges.shared.add(changes, to: self) else { return }
        perform {
            switch PendingMerges.shared.remove(from: self) {
            case .changes(let merges):
                for changes in merges {
                    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [self])
                }
            case .forgotten: self.refreshAllObjects()
            }
        }
    }
}

/// The changes that contexts have still to merge.
///
/// The main queue of a server may never run a block. When changes have waited for a minute, they are therefore forgotten, and the
/// context refreshes all its objects if it comes to the block after all.
final class PendingMerges: @unchecked Sendable {  // because a lock guards the merges
    enum Merges {
        case changes([[String: [NSManagedObjectID]]])
        case forgotten
    }

    private final class Waiting {
        let since = Date()
        /// Nil if they were forgotten.
        var changes: [[String: [NSManagedObjectID]]]? = []
    }

    static let shared = PendingMerges(patience: 60)
    /// In seconds.
    private let patience: TimeInterval
    private let lock = NSLock()
    private var waiting: [ObjectIdentifier: Waiting] = [:]

    init(patience: TimeInterval) { self.patience = patience }

    /// Adds changes. Returns whether they are the first ones that wait, so that a block must be enqueued, which holds the context.
    func add(_ changes: [String: [NSManagedObjectID]], to context: NSManagedObjectContext) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        let isFirst = waiting[ObjectIdentifier(context)] == nil
        let merges = waiting[ObjectIdentifier(context)] ?? Waiting()
        waiting[ObjectIdentifier(context)] = merges
        merges.changes?.append(changes)
        if !isFirst, -merges.since.timeIntervalSinceNow > patience { merges.changes = nil }
        return isFirst
    }

    /// The changes that a context has to merge now.
    func remove(from context: NSManagedObjectContext) -> Merges {
        lock.lock()
        defer { lock.unlock() }
        guard let merges = waiting.removeValue(forKey: ObjectIdentifier(context)) else { return .changes([]) }
        return merges.changes.map(Merges.changes) ?? .forgotten
    }
}

extension GraphExporter {
    /// Writes objects and the objects that the shape embeds to a file, in the background.
    ///
    ///     let ids = notes.map(\.objectID)
    ///     try await GraphExporter().export(ids, in: container, to: url)
    ///
    /// The document contains the saved values of the objects.
    ///
    /// Throws as `export(_:to:progress:)` does; cancelling the task throws `CocoaError.userCancelled`.
    @discardableResult
    public func export(
        _ ids: [NSManagedObjectID], in container: NSPersistentContainer, to url: URL, progress: Progress? = nil
    ) async throws -> ExportResult {
        try await container.performMerging(progress) { context, progress in
            try export(ids.map(context.object(with:)), to: url, progress: progress)
        }
    }

    /// Objects and the objects that the shape embeds as a document in memory, made in the background from their saved values.
    ///
    /// Throws as `export(_:in:to:progress:)` does.
    public func encoded(
        _ ids: [NSManagedObjectID], in container: NSPersistentContainer, progress: Progress? = nil
    ) async throws -> Data {
        try await container.performMerging(progress) { context, progress in
            try encoded(ids.map(context.object(with:)), progress: progress)
        }
    }

    /// Writes the content of the container's stores to a file, in the background.
    ///
    /// Throws as `exportStore(of:to:progress:)` of a coordinator does; cancelling the task throws `CocoaError.userCancelled`.
    @discardableResult
    public func exportStore(
        of container: NSPersistentContainer, to url: URL, progress: Progress? = nil
    ) async throws -> ExportResult {
        try await container.performMerging(progress) { _, progress in
            try exportStore(of: container.persistentStoreCoordinator, to: url, progress: progress)
        }
    }
}
