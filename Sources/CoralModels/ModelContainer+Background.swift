import Coral
import SwiftData

// Work in the background of a container: the forms of import, export and copy for asynchronous code. An actor with a context of its
// own does the work. The merge of what it has saved is in the queue of the main actor before the method returns.

extension ModelContainer {
    /// Imports a document in the background, saves the models, and merges the changes into the ``mainContext``: code that follows on
    /// the main actor sees them.
    ///
    ///     let ids = try await container.importModels(from: .file(url), as: Recipe.self)
    ///     let recipes = ids.compactMap { container.mainContext.model(for: $0) as? Recipe }
    ///
    /// The stores change completely or not at all. Unsaved changes of the ``mainContext`` are kept.
    ///
    /// - Parameters:
    ///   - source: The document.
    ///   - type: The class of the models at the top of the document.
    ///   - options: How the document is imported.
    ///   - progress: Counts bytes.
    /// - Returns: The identifiers of the models at the top of the document, in their order.
    /// - Throws: As `ModelContext.importModels(from:as:options:)` does, and the errors of saving. Cancelling the task throws
    ///   `CocoaError.userCancelled`.
    @discardableResult
    public func importModels<Model: PersistentModel>(
        from source: sending ImportSource, as type: Model.Type, options: sending ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> [PersistentIdentifier] {
        try await inBackground(progress) { context, progress in
            let objects = try context.plan(source, type, options, progress).applyForRoots()
            try context.save()
            return objects.compactMap { context.model(of: $0)?.persistentModelID }
        }
    }

    /// Models, and those that the shape embeds, as a document that is encoded in the background. It contains their saved values.
    ///
    ///     let json = try await container.encoded(recipes.map(\.persistentModelID))
    ///
    /// - Throws: As `encoded(as:layout:shape:portable:)` of models does, and ``ModelToolkitError`` for a model that does not exist.
    ///   Cancelling the task throws `CocoaError.userCancelled`.
    public func encoded(
        _ ids: [PersistentIdentifier], as format: GraphFormat = .json, layout: DocumentLayout? = nil,
        shape: GraphShape = .ownership, portable: Bool = false
    ) async throws -> Data {
        try await inBackground(nil) { context, progress in
            var exporter = GraphExporter(format: format, layout: layout, shape: try context.rules.applied(to: shape))
            exporter.isPortable = portable
            return try exporter.encoded(context.objects(of: ids), progress: progress)
        }
    }

    /// Writes the saved content of the container to a document in the background. The document is replaced atomically.
    ///
    /// - Throws: As ``export(to:as:layout:shape:)`` does. Cancelling the task throws `CocoaError.userCancelled`.
    @discardableResult
    public func export(
        to url: URL, as format: GraphFormat = .json, layout: DocumentLayout? = nil, shape: GraphShape = .ownership,
        progress: Progress? = nil
    ) async throws -> ExportResult {
        try await inBackground(progress) { context, progress in
            try context.container.exporter(format, layout, shape)
                .exportStore(of: context.container.coordinator, to: url, progress: progress)
        }
    }

    /// Copies models, and those that belong to them according to the shape, in the background. Saves the copies, and merges them into
    /// the ``mainContext``.
    ///
    /// - Returns: The identifiers of the copies, in the order of their originals.
    /// - Throws: As `deepCopies(shape:rules:into:)` of models does, and the errors of saving. Cancelling the task throws
    ///   `CocoaError.userCancelled`.
    @discardableResult
    public func deepCopies(
        of ids: [PersistentIdentifier], shape: GraphShape = .ownership, rules: CopyRules = CopyRules(),
        progress: Progress? = nil
    ) async throws -> [PersistentIdentifier] {
        try await inBackground(progress) { context, progress in
            let copier = try context.rules.copier(shape, rules)
            let copies = try copier.copy(context.objects(of: ids), into: context.managedContext, progress: progress)
                .roots
            try context.save()
            return copies.compactMap { context.model(of: $0)?.persistentModelID }
        }
    }

    /// Does work with a context of its own in the background, and ends it with the task.
    private func inBackground<Result: Sendable>(
        _ progress: Progress?, _ work: sending (ModelContext, Progress) throws -> Result
    ) async throws -> Result {
        let result = try await BackgroundWorker(self).run(progress ?? Progress(totalUnitCount: 0), work)
        enqueueMergeIntoMainContext()
        return result
    }
}

/// A context in the background, with its queue.
private actor BackgroundWorker: ModelActor {
    nonisolated let modelContainer: ModelContainer
    nonisolated let modelExecutor: any ModelExecutor

    init(_ container: ModelContainer) {
        modelContainer = container
        modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(container))
    }

    func run<Result: Sendable>(
        _ progress: Progress, _ work: sending (ModelContext, Progress) throws -> Result
    ) async throws -> Result {
        try await withTaskCancellationHandler {
            try work(modelContext, progress)
        } onCancel: {
            progress.cancel()
        }
    }
}

extension ModelContext {
    /// The managed objects of models.
    fileprivate func objects(of ids: [PersistentIdentifier]) throws -> [NSManagedObject] {
        try ids.map { id in
            guard let object = model(for: id).managedRow else {
                throw ModelToolkitError(
                    .noModel, "The store has no \(id.entityName) with this identifier.", at: id.entityName)
            }
            return object
        }
    }
}
