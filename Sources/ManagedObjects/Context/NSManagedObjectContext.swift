import Foundation
import Observation
import Synchronization

/// The objects that are fetched, changed and saved together: identity map and unit of work in one.
///
/// A context and its objects belong to the context's queue; use them inside `perform(_:)` and `performAndWait(_:)`.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {  // because its queue guards it
    // MARK: Queue, coordinator and parent

    let queue: ContextQueue
    @exclusivity(unchecked) final var coordinator: NSPersistentStoreCoordinator?
    @exclusivity(unchecked) final var parentContext: NSManagedObjectContext?

    // MARK: Identity map and unit of work

    // Without dynamic checks of exclusive access, because every access to an object uses these, and a context belongs
    // to one queue.
    @exclusivity(unchecked) final var registry = ObjectRegistry(entities: [])
    /// Objects with unsaved changes, in the order in which they were first changed. Objects that no longer have changes
    /// stay until the next save.
    @exclusivity(unchecked) final var changed: ContiguousArray<NSManagedObject> = []
    /// Objects changed since pending changes were processed.
    @exclusivity(unchecked) final var changedInEvent: ContiguousArray<NSManagedObject> = []
    @exclusivity(unchecked) final var insertedCount = 0
    @exclusivity(unchecked) final var updatedCount = 0
    final var deletedCount = 0
    /// Temporary keys of registered objects that now have a permanent one.
    final var aliases: [Int64: ObjectKey] = [:]
    /// Rows read ahead of need; see `RowsAhead`.
    @exclusivity(unchecked) final var rowsAhead = RowsAhead()
    /// The number of members' rows to read again at once.
    final var membersAgain = BatchGrowth(aloneLimit: 1, batchLimit: 4096)
    /// Incremented whenever rows that were read ahead may no longer equal those in the store.
    @exclusivity(unchecked) final var epoch = 0
    /// The class of the object created last, and its entity in this context's model.
    @exclusivity(unchecked) final var lastClass: (name: ObjectIdentifier, entity: NSEntityDescription)?
    final var isProcessing = false
    final var isSaving = false
    /// The changes posted last during a save: usually the same as those that the save then posts.
    final var eventInSave: (changes: ObjectChanges, userInfo: [AnyHashable: Any])?
    /// Deleted objects whose delete rules are still to be applied.
    final var pendingDeletions: ContiguousArray<NSManagedObject> = []
    /// Relationships that accessors have set by their primitive values.
    final var primitiveEdits = PrimitiveEdits()
    final let childCount = Atomic<Int>(0)
    /// The number of fetched results that are followed in this context; objects that are not registered may be added to
    /// them.
    final let followerCount = Atomic<Int>(0)
    /// The number of followers that require changes of other contexts to be merged at their saves.
    final var mergingCount = 0 {
        didSet { if (mergingCount == 0) != (oldValue == 0) { observeParent() } }
    }
    /// Objects whose values a merge policy has changed during the current save.
    final var refreshedBySave: [NSManagedObject] = []
    final var pinnedGenerations: PinnedGenerations?
    /// The adapters of the incremental stores that this context has used.
    final var incrementalStores: [IncrementalStoreRows] = []
    @exclusivity(unchecked) final var undoRecorder = UndoRecorder()
    final var observations = ObjectObservations()
    /// Whether Swift's Observation tracks the properties of the context's objects, so that `withObservationTracking`
    /// and everything based on it observes changes to the properties that were read: by setting, undoing, merging and
    /// refreshing. An addition to Core Data's API; false by default, because it makes each reading of a value slower by
    /// some 20 nanoseconds.
    // Without dynamic checks of exclusive access, because every reading of a value looks at it.
    @exclusivity(unchecked) public final var isObservable = false
    final let observationRegistrar = ObservationRegistrar()
    /// Values that may be changed in place.
    final var inPlaceValues = InPlaceValues()
    final var parentObserver: (any NSObjectProtocol)?
    final let legacyLock = NSRecursiveLock()
    /// Whether a save validates objects. A restore accepts the values of a store unchecked.
    @_spi(Stores) public final var validatesChanges = true

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
    open var retainsRegisteredObjects = false
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
        willSet { processPendingChanges() }
        didSet { undoRecorder.managerChanged(from: oldValue, to: undoManager, context: self) }
    }
    /// Whether saves of the parent, or of other contexts of the coordinator, are merged automatically.
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

    final var rootCoordinator: NSPersistentStoreCoordinator? {
        var context: NSManagedObjectContext = self
        while let parent = context.parentContext { context = parent }
        return context.coordinator
    }

    private func prepareRegistry() {
        lastClass = nil
        registry = ObjectRegistry(entities: rootCoordinator?.managedObjectModel.orderedEntities ?? [])
    }
}

/// The kinds of queues of contexts.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// No queue of its own; the context belongs to the thread that created it. Kept for old code.
    case confinementConcurrencyType = 0
    /// A queue of its own.
    case privateQueueConcurrencyType = 1
    /// The main queue.
    case mainQueueConcurrencyType = 2
}

extension NSManagedObjectContextConcurrencyType {
    init(_ type: NSManagedObjectContext.ConcurrencyType) {
        self = type == .mainQueue ? .mainQueueConcurrencyType : .privateQueueConcurrencyType
    }
}

extension NSManagedObjectContext {
    /// The kinds of queues, as Swift names them.
    public struct ConcurrencyType: Hashable, Equatable, RawRepresentable, Sendable {
        public typealias RawValue = UInt
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The main queue: for the user interface.
        public static let mainQueue = ConcurrencyType(rawValue: 2)
        /// A queue of the context's own.
        public static let privateQueue = ConcurrencyType(rawValue: 1)
    }

    /// When a block given to `perform` runs.
    public enum ScheduledTaskType: Sendable {
        /// Immediately, if the caller is on the context's queue.
        case immediate
        /// After all blocks submitted before.
        case enqueued
    }
}
