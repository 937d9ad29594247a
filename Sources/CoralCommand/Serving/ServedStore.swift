import AtomicFiles
import Coral
import CoralTools

/// An open store whose pages are served. All work runs on one queue, one request after the other.
///
/// A store that is opened read-only is read in one state for each request: the newest one when the request begins. A store in
/// PostgreSQL has no files that show whether it has changed, so each request pins a new state. A writable store is read with
/// its unsaved changes.
///
/// Unchecked, because its state is used on its queue only.
final class ServedStore: @unchecked Sendable {
    /// The arguments of the command that opened the store, without passwords, for the lines of other commands.
    let path: String
    let modelPath: String?
    let isWritable: Bool
    let zone: TimeZone?
    private let open: OpenStore
    private let backup: BackupOption
    private let queue = DispatchQueue(label: "coral.serve")
    private var state: State?
    private var picture: (files: [String], html: HTML)?
    /// The names of the objects whose pages were shown, the last one first.
    private var viewed: [String] = []
    private static let viewedLimit = 12
    /// The progress that an interrupt cancels.
    private var progress: Progress?

    /// One state of a store that is opened read-only.
    private struct State {
        let files: [String]
        let snapshot: StoreSnapshot
        var counts: EntityCounts?
    }

    init(
        path: String, model source: ModelSource, isWritable: Bool, backup: BackupOption, zone: TimeZone?,
        labels: LabelOption? = nil
    ) throws {
        self.path = ServerURLs.shown(path)
        modelPath = source.url.map { $0.isOfServer ? $0.storeName : source.model ?? "" }
        self.isWritable = isWritable
        self.zone = zone
        self.backup = backup
        open = try OpenStore(path: path, model: source, isReadOnly: !isWritable, holdsState: false, labels: labels)
        guard isWritable else { return }
        let manager = UndoManager()
        // Each change is one undo step; by default, all changes in one pass of an event loop are one.
        manager.groupsByEvent = false
        open.context.undoManager = manager
    }

    /// The access of a request to the store.
    struct Access {
        let open: OpenStore
        let context: NSManagedObjectContext
        fileprivate let store: ServedStore

        /// A context of its own with the same state, for work that continues after the request; nil for a writable store, whose
        /// unsaved changes are in one context only.
        func separateContext() throws -> NSManagedObjectContext? { try store.state?.snapshot.makeContext() }

        /// The numbers of objects; kept while the store does not change.
        func counts() throws -> EntityCounts { try store.counts(context) }

        /// A picture of what is saved; kept while the files do not change.
        func picture(_ make: () throws -> HTML) rethrows -> HTML {
            guard open.url.isFileURL else { return try make() }
            let files = ServedStore.stamps(of: open.url)
            if let picture = store.picture, picture.files == files { return picture.html }
            let html = try make()
            store.picture = (files, html)
            return html
        }

        /// The objects whose pages were shown last, and that still exist.
        var viewed: [NSManagedObject] {
            store.viewed.compactMap { name in
                ObjectArgument(argument: name).flatMap { try? $0.object(in: open, context: context) }
            }
        }

        /// Notes that the page of an object was shown.
        func view(_ object: NSManagedObject) {
            let name = StoredName(object.objectID).text
            store.viewed = Array(([name] + store.viewed.filter { $0 != name }).prefix(ServedStore.viewedLimit))
        }
    }

    /// Runs a function on the store's queue, and on that of its context.
    func access<Result: Sendable>(_ body: @escaping @Sendable (Access) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Swift.Result {
                        let context = try self.context()
                        return try context.performAndWait {
                            try body(Access(open: self.open, context: context, store: self))
                        }
                    })
            }
        }
    }

    private func context() throws -> NSManagedObjectContext {
        if isWritable { return open.context }
        let files = Self.stamps(of: open.url)
        if let state, open.url.isFileURL, state.files == files { return try state.snapshot.makeContext() }
        // The earlier state is released first.
        state = nil
        let snapshot = try StoreSnapshot(of: open.coordinator)
        state = State(files: files, snapshot: snapshot)
        return try snapshot.makeContext()
    }

    /// A text for each file of a store, which differs after each write of another process.
    static func stamps(of url: URL) -> [String] { ["", "-wal", "-journal"].map { stamp(of: url.path + $0) } }

    /// The size, the modification time and the inode number of a file; empty if it does not exist.
    private static func stamp(of path: String) -> String {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return "" }
        let time = (attributes[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
        return "\(attributes[.size] ?? 0) \(time) \(attributes[.systemFileNumber] ?? 0)"
    }

    private func counts(_ context: NSManagedObjectContext) throws -> EntityCounts {
        if let counts = state?.counts { return counts }
        let counts = try EntityCounts(context, open.model, allowsDamage: true)
        state?.counts = counts
        return counts
    }

    // MARK: - Changes

    /// The number of objects that are changed and not saved.
    var unsavedCount: Int {
        guard isWritable else { return 0 }
        return queue.sync { open.context.performAndWait { Self.unsavedCount(open.context) } }
    }

    static func unsavedCount(_ context: NSManagedObjectContext) -> Int {
        context.updatedObjects.count { $0.hasPersistentChangedValues } + context.insertedObjects.count
            + context.deletedObjects.count
    }

    /// Makes an interrupt cancel a progress, even after work that has set another one.
    func interrupting(_ progress: Progress) {
        queue.sync { self.progress = progress }
        Interruption.shared.cancels(progress)
    }

    /// Changes properties of an object as one undo step, if all values are valid then.
    ///
    /// Throws `FormMistakes` for values that the properties cannot have, and the errors of validation; then nothing is changed, nor
    /// can be redone.
    static func change(
        _ assignments: [Assignment], of object: NSManagedObject, zone: TimeZone?, in access: Access
    ) throws {
        var mistakes = FormMistakes()
        for assignment in assignments {
            do {
                _ = try AssignmentPlan([assignment], of: object.entity, in: access.open, zone: zone, readsFiles: false)
            } catch {
                mistakes.add(ErrorText.text(of: error), to: assignment.key)
            }
        }
        if !mistakes.isEmpty { throw mistakes }
        let plan = try AssignmentPlan(
            assignments, of: object.entity, in: access.open, zone: zone, readsFiles: false)
        try attempt(in: access) {
            plan.apply(to: try $0.existingObject(with: object.objectID))
        } validating: { changed, error in
            mistakes.add(error, of: changed.objectID == object.objectID ? object : changed)
        }
        if !mistakes.isEmpty { throw mistakes }
        step(in: access.context) { plan.apply(to: object) }
    }

    /// Inserts an object as one undo step. It is validated when it is saved.
    static func insert(_ entity: NSEntityDescription, in access: Access) throws -> NSManagedObject {
        let name = entity.name ?? ""
        guard !entity.isAbstract else { throw CommandError("\(name) is abstract: insert an object of a subentity.") }
        let context = access.context
        let object = step(in: context) { NSEntityDescription.insertNewObject(forEntityName: name, into: context) }
        // Its address has its permanent key.
        try context.obtainPermanentIDs(for: [object])
        return object
    }

    /// Deletes an object as one undo step, if the rules of the model allow it. Throws the errors of validation.
    static func delete(_ object: NSManagedObject, in access: Access) throws {
        var errors: [any Error] = []
        try attempt(in: access) {
            $0.delete(try $0.existingObject(with: object.objectID))
        } validating: {
            errors.append($1)
        }
        if let error = errors.first { throw error }
        step(in: access.context) { access.context.delete(object) }
    }

    /// Makes a change in a context of its own, and validates it: a change that is undone would be on the stack of what can be redone.
    private static func attempt(
        in access: Access, _ body: (NSManagedObjectContext) throws -> Void,
        validating failed: (NSManagedObject, any Error) -> Void
    ) throws {
        let trial = NSManagedObjectContext(concurrencyType: access.context.concurrencyType)
        trial.parent = access.context
        trial.undoManager = nil
        try trial.performAndWait {
            try body(trial)
            trial.processPendingChanges()
            let deleted = StoredName.sorted(Array(trial.deletedObjects))
            // A relationship also changes the objects at its other end.
            let updated = StoredName.sorted(trial.updatedObjects.filter(\.hasPersistentChangedValues))
            for object in deleted + updated {
                do {
                    try object.isDeleted ? object.validateForDelete() : object.validateForUpdate()
                } catch {
                    failed(object, error)
                }
            }
        }
    }

    private static func step<Result>(in context: NSManagedObjectContext, _ body: () -> Result) -> Result {
        context.undoManager?.beginUndoGrouping()
        defer { context.undoManager?.endUndoGrouping() }
        let result = body()
        context.processPendingChanges()
        return result
    }

    /// Saves all changes after a backup; returns whether there were any.
    static func save(_ access: Access) throws {
        defer { access.store.progress.map(Interruption.shared.cancels) }
        try access.store.backup.save(access.open)
        access.context.undoManager?.removeAllActions()
    }
}
