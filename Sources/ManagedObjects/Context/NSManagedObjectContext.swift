import Foundation
import Observation
import Synchronization

/// A space in which objects are fetched, changed and saved: identity map and unit of work in one.
///
/// A context and its objects belong to the context's queue; `perform(_:)` and `performAndWait(_:)` are the ways in.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {  // because its queue guards it
    // MARK: What it stands on

    let queue: ContextQueue
    @exclusivity(unchecked) final var coordinator: NSPersistentStoreCoordinator?
    @exclusivity(unchecked) final var parentContext: NSManagedObjectContext?

    // MARK: Identity map and unit of work

    // Without dynamic checks of exclusive access, because every object passes here, and a context belongs to one queue.
    @exclusivity(unchecked) final var registry = ObjectRegistry(entities: [])
    /// Objects with unsaved changes, in the order in which they were first changed; those that have none any more stay
    /// until the next save.
    @exclusivity(unchecked) final var changed: ContiguousArray<NSManagedObject> = []
    /// Objects changed since pending changes were processed.
    @exclusivity(unchecked) final var changedInEvent: ContiguousArray<NSManagedObject> = []
    @exclusivity(unchecked) final var insertedCount = 0
    @exclusivity(unchecked) final var updatedCount = 0
    final var deletedCount = 0
    /// Other names of registered objects: temporary keys under which a permanent one may still be asked for.
    final var aliases: [Int64: ObjectKey] = [:]
    /// Rows read ahead of need; see `RowsAhead`.
    @exclusivity(unchecked) final var rowsAhead = RowsAhead()
    /// How many members to read again whose rows have gone.
    final var membersAgain = BatchGrowth(aloneLimit: 1, batchLimit: 4096)
    /// Goes up whenever what has been read ahead may no longer be what the store has.
    @exclusivity(unchecked) final var epoch = 0
    /// The class that the last new object was made of, and its entity in this context's model.
    @exclusivity(unchecked) final var lastClass: (name: ObjectIdentifier, entity: NSEntityDescription)?
    final var isProcessing = false
    final var isSaving = false
    /// The changes told last while a save is going on: as a rule those that the save then tells too.
    final var eventInSave: (changes: ObjectChanges, userInfo: [AnyHashable: Any])?
    /// Deleted objects whose delete rules are still to be applied.
    final var pendingDeletions: ContiguousArray<NSManagedObject> = []
    final let childCount = Atomic<Int>(0)
    /// How many follow fetched results here, which can begin to hold objects that the context does not know.
    final let followerCount = Atomic<Int>(0)
    /// How many have asked for what others save to be merged.
    final var mergingCount = 0 {
        didSet { if (mergingCount == 0) != (oldValue == 0) { observeParent() } }
    }
    /// Objects whose values a merge policy has changed during the save that is under way.
    final var refreshedBySave: [NSManagedObject] = []
    final var pinnedGenerations: PinnedGenerations?
    /// The incremental stores that this context has asked.
    final var incrementalStores: [IncrementalStoreRows] = []
    @exclusivity(unchecked) final var undoRecorder = UndoRecorder()
    final var observations = ObjectObservations()
    /// Whether Swift's Observation tracks the properties of the context's objects, so that `withObservationTracking` and what
    /// stands on it learn of changes to the properties that they have read: by setting, undoing, merging and refreshing. An
    /// addition to Core Data's API; false unless set, because it makes each reading of a value slower by some 20 nanoseconds.
    // Without dynamic checks of exclusive access, because every reading of a value looks at it.
    @exclusivity(unchecked) public final var isObservable = false
    final let observationRegistrar = ObservationRegistrar()
    /// Values that users may change in place.
    final var inPlaceValues = InPlaceValues()
    final var parentObserver: (any NSObjectProtocol)?
    final let legacyLock = NSRecursiveLock()
    /// Whether a save checks objects against the model's rules. A restore takes what a store held as it was.
    @_spi(Stores) public final var validatesChanges = true

    // MARK: Public state

    /// The name, for messages and for persistent history.
    open var name: String?
    /// What persistent history tells of the author of saves.
    open var transactionAuthor: String?
    /// How conflicts with the store are settled; an `NSMergePolicy`. Conflicts are errors by default.
    open var mergePolicy: Any = NSErrorMergePolicy
    /// Whether deleting an object touches what it is related to at the end of the event; else at the next save.
    open var propagatesDeletesAtEndOfEvent = true
    /// True where every registered object is kept until it is reset.
    open var retainsRegisteredObjects = false
    /// True where an object whose row is missing becomes a deleted one with no values, instead of an error.
    open var shouldDeleteInaccessibleFaults = true
    /// How long ago, in seconds, rows may have been read that a fault takes its values from; rows read before are read
    /// again. 0 has every fault read the store, a statement each; with a negative interval, the default, age does not
    /// count.
    // Without dynamic checks of exclusive access, because every fault that fires looks at it.
    @exclusivity(unchecked) open var stalenessInterval: TimeInterval = -1
    /// Values that belong to whoever made the context.
    open private(set) var userInfo = NSMutableDictionary()
    /// Nil unless set: changes are then not recorded.
    open var undoManager: UndoManager? {
        willSet { processPendingChanges() }
        didSet { undoRecorder.managerChanged(from: oldValue, to: undoManager, context: self) }
    }
    /// Whether saves of the parent, or of other contexts of the coordinator, are merged by themselves.
    open var automaticallyMergesChangesFromParent = false {
        didSet { observeParent() }
    }

    // MARK: Names of objects in a family

    /// Permanent keys that objects were given in place of temporary ones, in that order, for children to learn.
    final var givenKeys: [(temporary: Int64, permanent: ObjectKey)] = []
    /// How many of those that the parent has given are known here.
    final var learntKeyCount = 0

    /// A context of a kind, without coordinator or parent.
    public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
        queue = ContextQueue(ct)
        super.init()
    }

    /// A context of a kind, without coordinator or parent.
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

    /// On which queue the context works.
    open var concurrencyType: NSManagedObjectContextConcurrencyType { queue.type }

    /// The coordinator that the context, or the eldest of its parents, reads from and saves to.
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

/// The kinds of queue a context may have.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// No queue of its own; the thread that made it. Kept for old code.
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
    /// The kinds of queue, as Swift names them.
    public struct ConcurrencyType: Hashable, Equatable, RawRepresentable, Sendable {
        public typealias RawValue = UInt
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The main queue: for what belongs to the user interface.
        public static let mainQueue = ConcurrencyType(rawValue: 2)
        /// A queue of the context's own.
        public static let privateQueue = ConcurrencyType(rawValue: 1)
    }

    /// When a block given to `perform` runs.
    public enum ScheduledTaskType: Sendable {
        /// At once, where the caller is on the context's queue already.
        case immediate
        /// After what has been given to the queue before.
        case enqueued
    }
}
