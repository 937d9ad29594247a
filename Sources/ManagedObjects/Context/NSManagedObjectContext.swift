import Foundation
import FoundationAdditions
import Observation
import StoreSupport
import Synchronization

// The map of a context. What it keeps, who changes it, and where:
//
//   registry           the objects by key                                ObjectRegistry, +Registration
//   tracker            the changed objects: list, numbers, event         ChangeTracker, +Changes
//   object.state       values, row and flags of one object               Objects/ObjectState
//   prefetchedRows     rows that were read before they are needed        Fetching/PrefetchedRows
//   undoRecorder       the step that the event becomes                   Undo
//   inPlaceValues      values that may change without a setter           InPlaceValues
//   restorePoint       what failing work returns to                      Merging/RestorePoint
//
// A read      fetch -> Fetching/+Fetching -> the store's pages -> registry -> object.state.adopt; a fault that is accessed:
//             +Faulting -> one statement for a batch of faults
// A change    the setter -> recordChange (first of the event) -> object.state, tracker -> endEvent posts, and ends the step
// A save      Saving/+Saving: validate, permanent keys, a SavePlan for each store, write, adopt; with conflicts Merging/+Conflicts
//             lets the policy resolve them in the same transaction
// A merge     Merging/+Merging -> ChangeMerge: read everything, withdraw changes, read rows, make the changes again

/// The objects that are fetched, changed and saved together: identity map and unit of work in one.
///
/// A context and its objects belong to the context's queue; use them inside `perform(_:)` and `performAndWait(_:)`.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {  // because its queue guards it
    // MARK: Queue, coordinator and parent

    let queue: ContextQueue
    @exclusivity(unchecked) package final var coordinator: NSPersistentStoreCoordinator?
    @exclusivity(unchecked) package final var parentContext: NSManagedObjectContext?

    // MARK: Identity map and unit of work

    // Without dynamic checks of exclusive access, because every access to an object uses these, and a context belongs
    // to one queue.
    @exclusivity(unchecked) final var registry = ObjectRegistry(entities: [])
    @exclusivity(unchecked) final var tracker = ChangeTracker()
    /// Temporary keys of registered objects that now have a permanent one.
    final var aliases: [Int64: ObjectKey] = [:]
    /// Rows read ahead of need; see `PrefetchedRows`.
    @exclusivity(unchecked) final var prefetchedRows = PrefetchedRows()
    /// The number of members' rows to read again at once.
    final var membersAgain = BatchGrowth(aloneLimit: 1)
    /// The maximum number of members whose rows are read together again.
    static let memberBatchLimit = 4096
    final var recentCollections = RecentCollections()
    /// Incremented whenever rows that were read ahead may no longer equal those in the store.
    @exclusivity(unchecked) final var epoch = 0
    /// The class of the object created last, and its entity in this context's model.
    @exclusivity(unchecked) final var lastClass: (name: ObjectIdentifier, entity: NSEntityDescription)?
    /// The number of blocks on the queue that are running, each within the one before.
    final var blockDepth = 0
    final var isProcessing = false
    final var isSaving = false
    /// The changes posted last during a save: usually the same as those that the save then posts.
    final var eventInSave: (changes: ObjectChanges, userInfo: [AnyHashable: Any])?
    /// The transactions that the current save has written to histories, by the store's UUID.
    final var transactionsOfSave: [String: Int64] = [:]
    /// The keys of objects that saves of the current block on the queue have written.
    final var savedInBlock: ContiguousArray<ObjectKey> = []
    /// Objects whose deletion the last merge has made, until the next save.
    final var mergedDeletions: ContiguousArray<NSManagedObject> = []
    /// Relationships that accessors have set by their primitive values.
    final var primitiveEdits = PrimitiveEdits()
    final let childCount = Atomic<Int>(0)
    /// The number of fetched results that are followed in this context; objects that are not registered may be added to
    /// them.
    package final let followerCount = Atomic<Int>(0)
    /// The number of followers that require changes of other contexts to be merged at their saves.
    package final var mergingCount = 0 {
        didSet { if (mergingCount == 0) != (oldValue == 0) { observeParent() } }
    }
    /// Objects whose values a merge policy has changed during the current save.
    package final var refreshedBySave: [NSManagedObject] = []
    package final var pinnedGenerations: PinnedGenerations?
    /// Called before objects are removed by the undoing of their insertion, which first takes their values from them.
    package final var willUndoInsertions: (([NSManagedObject]) -> Void)?
    /// The adapters of the incremental stores that this context has used.
    final var incrementalStores: [IncrementalStoreRows] = []
    @exclusivity(unchecked) final var undoRecorder = UndoRecorder()
    final var failedStep: FailedStep?
    final var observations = ObjectObservations()
    /// Whether Swift's Observation tracks the properties of the context's objects, so that `withObservationTracking`
    /// and everything based on it observes changes to the properties that were read: by setting, undoing, merging and
    /// refreshing. An addition to Core Data's API; false by default, because it makes each reading of a value slower by
    /// some 20 nanoseconds.
    // Without dynamic checks of exclusive access, because every reading of a value reads it.
    @exclusivity(unchecked) public final var isObservable = false
    final let observationRegistrar = ObservationRegistrar()
    /// Values that may be changed in place.
    final var inPlaceValues = InPlaceValues()
    final var parentObserver: (any NSObjectProtocol)?
    final let legacyLock = NSRecursiveLock()
    /// Whether a save validates objects. A restore accepts the values of a store unchecked.
    package final var validatesChanges = true
    /// The errors of reads in the present work that cannot throw them; nil outside of such work.
    final var failedReads: FailedReads?
    /// What the context returns to if the present work fails; nil outside of such work.
    final var restorePoint: RestorePoint?
    /// The changes of other contexts whose merge has failed; they are merged together with the next ones.
    final var unmergedChanges = UnmergedChanges()
    /// The transaction in which the current save is written, while it resolves conflicts or is a part of other work.
    package final var saveTransaction: (any SaveTransaction)?
    /// The keys that were assigned in that transaction, before and after; nil outside of one of the context's own.
    final var keysOfTransaction: [(temporary: Int64, permanent: ObjectKey)]?
    /// The notifications to post after a transaction; nil outside of one.
    package final var heldNotifications: [(name: Notification.Name, userInfo: [AnyHashable: Any])]?

    // MARK: Public state

    /// The name, for messages and for persistent history.
    open var name: String?
    /// The author of saves in persistent history.
    open var transactionAuthor: String?
    /// How conflicts with the store are resolved; an `NSMergePolicy`. By default conflicts are errors.
    open var mergePolicy: Any = NSErrorMergePolicy
    /// Whether delete rules are applied at the end of the event in which objects were deleted. If false, they are applied
    /// only immediately before changes are saved.
    open var propagatesDeletesAtEndOfEvent = true
    /// True if every registered object is retained until the context is reset.
    // Without dynamic checks of exclusive access, because every object that is looked up reads it.
    @exclusivity(unchecked) open var retainsRegisteredObjects = false
    /// True if an object whose row is missing becomes a deleted one without values, instead of stopping the program.
    open var shouldDeleteInaccessibleFaults = true
    /// The maximum age in seconds of rows from which a fault gets its values; older rows are read again. With 0 every
    /// fault reads the store, with one statement each; with a negative interval, the default, the age does not matter.
    // Without dynamic checks of exclusive access, because every fault that fires reads it.
    @exclusivity(unchecked) open var stalenessInterval: TimeInterval = -1
    /// The user's own values.
    open private(set) var userInfo = NSMutableDictionary()
    /// Nil by default: changes are then not recorded.
    open var undoManager: UndoManager? {
        willSet { endEvent() }
        didSet { undoRecorder.managerChanged(from: oldValue, to: undoManager, context: self) }
    }
    /// Whether saves of the parent, or of other contexts of the coordinator, are merged automatically: on the context's queue, some time
    /// after the save. A context of the main queue merges a save that the main thread waits for, with `performAndWait`, before that
    /// returns.
    open var automaticallyMergesChangesFromParent = false {
        didSet { observeParent() }
    }

    // MARK: Keys assigned for children

    /// Permanent keys that replaced temporary ones, in order of assignment, for children to adopt.
    final var givenKeys: [(temporary: Int64, permanent: ObjectKey)] = []
    /// The number of the parent's `givenKeys` that are adopted here.
    final var learntKeyCount = 0

    /// Creates a context with a kind of queue, without coordinator or parent.
    public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
        queue = ContextQueue(ct)
        super.init()
    }

    /// Creates a context with a kind of queue, without coordinator or parent.
    public convenience init(_ type: NSManagedObjectContext.ConcurrencyType) {
        self.init(concurrencyType: NSManagedObjectContextConcurrencyType(type))
    }

    @available(*, deprecated, message: "Use init(concurrencyType:).")
    public override convenience init() {
        self.init(concurrencyType: .confinementConcurrencyType)
    }

    deinit {
        for case let observer? in [parentObserver, undoRecorder.checkpoint] {
            NotificationCenter.default.removeObserver(observer)
        }
        parentContext?.childCount.subtract(1, ordering: .relaxed)
        for object in registry.objects { object.context = nil }
    }

    /// The kind of queue that the context works on.
    open var concurrencyType: NSManagedObjectContextConcurrencyType { queue.type }

    /// The coordinator that the context, or its topmost parent, reads from and saves to.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { rootCoordinator }
        set {
            guard newValue !== coordinator else { return }
            removeAllObjects()
            coordinator = newValue
            prepareRegistry()
        }
    }

    /// The context that this one reads from and saves to, instead of a coordinator.
    open var parent: NSManagedObjectContext? {
        get { parentContext }
        set {
            guard newValue !== parentContext else { return }
            removeAllObjects()
            parentContext?.childCount.subtract(1, ordering: .relaxed)
            parentContext = newValue
            newValue?.childCount.add(1, ordering: .relaxed)
            learntKeyCount = newValue.map { parent in parent.queue.sync { parent.givenKeys.count } } ?? 0
            coordinator = nil
            prepareRegistry()
        }
    }

    // MARK: - Methods

    // Subclasses can override these, as Core Data's: they are in the body of the class, because Swift cannot override methods
    // of extensions. The longer implementations are in extensions, and the engine calls them directly.

    /// Runs a block on the context's queue, after all blocks submitted before. Returns immediately.
    open func perform(_ block: @escaping () -> Void) { enqueue(block) }

    /// Runs a block on the context's queue and waits for it. If the caller is on the queue, the block runs immediately.
    open func performAndWait(_ block: () -> Void) { runAndWait(block) }

    /// The objects, IDs, dictionaries or counts that a request describes. Subclasses override this method to change what
    /// ``fetch(_:)-(NSFetchRequest<T>)`` returns for requests of all types; they get a copy of the request then.
    open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        checkQueue()
        return try fetchResults(request.specification)
    }

    /// The number of objects that a fetch of the request would return. Subclasses override this method for requests of all
    /// types.
    open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
        try countOfResults(request.specification)
    }

    /// Executes a request other than a plain fetch: an asynchronous fetch, a history request, or a batch request, which
    /// changes the store without creating objects. Registered objects are not updated: merge or refresh them. Each
    /// store that has the entity executes a batch update or deletion in a transaction of its own; a batch insertion is
    /// executed by the first.
    ///
    /// - Throws: `NSPersistentStoreUnsupportedRequestTypeError` (134091) if no store supports the request.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try executeRequest(request)
    }

    /// All registered objects.
    open var registeredObjects: Set<NSManagedObject> {
        checkQueue()
        return Set(registry.objects).union(mergedDeletions)
    }

    /// The registered object with an ID, or nil; no statement.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue()
        return key(for: objectID).flatMap { registeredObject(for: $0) }
    }

    /// The object with an ID: the registered one, else a fault that may have no row. No statement.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue()
        guard let key = key(for: objectID) else {
            preconditionFailure("The store of \(objectID) is not among those of the context's coordinator.")
        }
        return object(for: key)
    }

    /// The object with an ID, with its row: at most one statement.
    ///
    /// - Throws: `NSManagedObjectReferentialIntegrityError` (133000) when the row or the store does not exist.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try objectWithRow(objectID)
    }

    /// Whether an object without a row may be treated as a deleted one.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        shouldDeleteInaccessibleFaults
    }

    /// Inserts an object that has no context yet. Creating an object in a context calls this method.
    open func insert(_ object: NSManagedObject) {
        checkQueue()
        if object.flags.contains(.deleted), object.context === self {
            undelete(object)
        } else {
            insertNew(object)
        }
    }

    /// Marks an object for deletion. Its relationships' delete rules are applied when pending changes are processed, or
    /// when the context is saved if ``propagatesDeletesAtEndOfEvent`` is false.
    open func delete(_ object: NSManagedObject) { deleteObject(object) }

    /// Turns an object into a fault; with `mergeChanges` reads its row again and keeps unsaved changes.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) { refreshObject(object, mergeChanges: flag) }

    /// Turns every object into a fault that keeps its unsaved changes.
    open func refreshAllObjects() { refreshRegisteredObjects() }

    /// Checks with the next save whether an object's row has changed since it was read.
    open func detectConflicts(for object: NSManagedObject) { checkForConflict(object) }

    /// Assigns an unsaved object to a store, if several stores have its entity.
    open func assign(_ object: Any, to store: NSPersistentStore) {
        checkQueue()
        (object as? NSManagedObject)?.assignedStore = store
    }

    /// Assigns permanent IDs to objects before they are saved: one reservation for each entity hierarchy.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try assignPermanentIDs(to: objects) }

    /// Objects inserted since the last save.
    open var insertedObjects: Set<NSManagedObject> {
        checkQueue()
        return Set(changed.lazy.filter { $0.flags.contains(.inserted) && !$0.flags.contains(.deleted) })
    }

    /// The same in the order in which they were inserted.
    package final var insertionsInOrder: [NSManagedObject] {
        checkQueue()
        return changed.filter { $0.flags.contains(.inserted) && !$0.flags.contains(.deleted) }
    }

    /// Objects changed since they were fetched or saved.
    open var updatedObjects: Set<NSManagedObject> {
        checkQueue()
        noticeInPlaceChanges()
        return Set(changed.lazy.filter(\.isUpdated))
    }

    /// Objects that the next save will delete, and, until it or another merge, those whose deletion was merged from another
    /// context.
    open var deletedObjects: Set<NSManagedObject> {
        checkQueue()
        let own = changed.lazy.filter { $0.flags.contains(.deleted) && !$0.flags.contains(.inserted) }
        return Set(own).union(mergedDeletions)
    }

    /// True when there is something to save. Cost: one comparison for each transformable value that was returned and
    /// can be changed in place.
    open var hasChanges: Bool { hasUnsavedChanges }

    /// Applies delete rules, posts the change notification, and ends the event for undo.
    open func processPendingChanges() { endEvent() }

    /// Writes all unsaved changes: to the coordinator's stores, each in one transaction, or to the parent context.
    /// Without changes it posts its notifications, and writes nothing.
    ///
    /// After an error the changes are as they were before the merge policy was called, and the next save tries again.
    ///
    /// A save to several stores is a transaction for each, in the order in which they were added. If one of them fails, the
    /// changes of those before it are saved: their objects have no unsaved changes any more, and the notifications of a save are
    /// posted for them. The changes of the other stores stay unsaved, and the next save writes them. It does not conflict with
    /// what this one has written.
    ///
    /// - Throws: Validation errors (1550 to 1680) and conflicts that the merge policy does not resolve (133020,
    ///   133021); nothing is written to the store then. Errors of the store (134000 and above, including SQLite's), and of values
    ///   that could not be read.
    open func save() throws {
        var count = 0
        try StoreObservation.observing(.save, name ?? "", count: { _ in count }) {
            if StoreObservation.current != nil { count = changed.count }
            try FetchInterruption.completing { try saveChanges() }
        }
    }

    /// Discards every unsaved change and every object.
    open func reset() {
        checkQueue()
        removeAllObjects()
    }

    /// Discards all unsaved changes: inserted objects are removed, the others get their committed values.
    open func rollback() { discardChanges() }

    /// Undoes the last step that the undo manager has recorded.
    open func undo() {
        perform({ $0.undo() }, reverse: { $0.redo() })
    }

    /// Redoes the step that ``undo()`` has undone last.
    open func redo() {
        perform({ $0.redo() }, reverse: { $0.undo() })
    }

    /// Merges the save of another context: changed rows are read again, unsaved changes of this context are kept.
    open func mergeChanges(fromContextDidSave notification: Notification) { merge(notification) }

    /// Merges changes that were saved elsewhere into contexts. The changes are object IDs or URIs under the keys of the
    /// save notification.
    open class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) {
        merge(changeNotificationData, into: contexts)
    }

    /// The state that the context is pinned to; nil while it reads the newest.
    open var queryGenerationToken: NSQueryGenerationToken? {
        pinnedGenerations.map { NSQueryGenerationToken(generations: $0) }
    }

    /// Pins the context to a state of its stores, or lets it read the newest again. Objects that are already read do
    /// not change until they are refreshed. A save, a merge and a reset advance a pinned context to the newest state.
    ///
    /// - Throws: An error if a store cannot pin a state.
    open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { try pin(to: generation) }

    /// Locks the context. Kept for old code; use `perform(_:)`.
    @available(*, deprecated, message: "Use performAndWait(_:).")
    open func lock() { legacyLock.lock() }

    /// Unlocks the context.
    @available(*, deprecated, message: "Use performAndWait(_:).")
    open func unlock() { legacyLock.unlock() }

    /// Locks the context unless another thread has locked it, and returns whether it did.
    @available(*, deprecated, message: "Use performAndWait(_:).")
    open func tryLock() -> Bool { legacyLock.try() }

    // MARK: - Coordinator

    package final var rootCoordinator: NSPersistentStoreCoordinator? {
        var context: NSManagedObjectContext = self
        while let parent = context.parentContext { context = parent }
        return context.coordinator
    }

    private func prepareRegistry() {
        lastClass = nil
        registry = ObjectRegistry(entities: rootCoordinator?.managedObjectModel.orderedEntities ?? [])
    }

    /// Prepares the registry for an object that is inserted into a context without a coordinator, whose model is that of its objects.
    final func adoptModel(of object: NSManagedObject) {
        let entity = object.entity
        if rootCoordinator == nil, registry.layouts.isEmpty {
            let entities = entity.managedObjectModelIfAny?.orderedEntities ?? []
            registry = ObjectRegistry(entities: entities.isEmpty ? [entity] : entities)
        }
        precondition(
            registry.contains(object.key.entity),
            "The entity “\(entity.name ?? "")” is not in the model of the context, into which its object was inserted.")
    }
}
