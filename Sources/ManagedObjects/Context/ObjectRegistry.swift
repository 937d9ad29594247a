/// The identity map of a context: one object for each key.
///
/// The registry owns its objects. A sweep on the context's queue releases those without other references. If objects
/// unregistered themselves in their deinitialisers, they would do so on any thread. An object with unsaved changes is
/// never released.
///
/// Most objects that a loop over relationships passes are looked up only once. A small sweep examines only those
/// created since the last one, or kept by it, so that their memory is reused while it is still in the processor's
/// cache. Objects that were looked up again are left to the full sweeps.
struct ObjectRegistry {
    private var tables: [KeyTable]
    /// The index of each entity's table: that of its root entity.
    private let tableOfEntity: [Int]
    /// The layouts of the model's entities, by their indexes.
    let layouts: ContiguousArray<EntityLayout>
    /// The number of registered objects in all tables; a sweep is due when it has doubled since the last.
    private(set) var count = 0
    private var threshold = ObjectRegistry.smallestThreshold
    /// The keys of objects that have been looked up once, and may have no other references.
    private var young: ContiguousArray<ObjectKey> = []
    /// The number of these that the last small sweep has kept.
    private var youngSurvivors = 0

    private static let smallestThreshold = 4096
    /// The number of young objects that makes a small sweep due: some hundred kilobytes of them.
    var youngLimit = 1024

    init(entities: [NSEntityDescription]) {
        var ordinals: [ObjectIdentifier: Int] = [:]
        var tableOfEntity: [Int] = []
        for entity in entities {
            let root = ObjectIdentifier(entity.rootEntity)
            let ordinal = ordinals[root] ?? ordinals.count
            ordinals[root] = ordinal
            tableOfEntity.append(ordinal)
        }
        self.tableOfEntity = tableOfEntity
        layouts = ContiguousArray(entities.map(\.layout))
        tables = Array(repeating: KeyTable(), count: max(1, ordinals.count))
    }

    @inline(__always)
    func object(for key: ObjectKey) -> NSManagedObject? {
        tables[tableOfEntity[Int(key.entity)]].object(store: key.store, number: key.number)
    }

    /// Registers an object under its key. The caller removes the entry of a former key by `remove(_:)`.
    mutating func register(_ object: NSManagedObject, as key: ObjectKey, isYoung: Bool = false) {
        tables[tableOfEntity[Int(key.entity)]].insert(object, store: key.store, number: key.number)
        count += 1
        if isYoung { young.append(key) }
    }

    /// Faults to read together with one that fires: of its hierarchy and store, without row and origin.
    ///
    /// - Parameter batchLimit: The maximum number of faults to read together.
    mutating func looseFaults(around key: ObjectKey, epoch: Int, batchLimit: Int) -> [ObjectKey] {
        tables[tableOfEntity[Int(key.entity)]].looseFaults(around: key, epoch: epoch, batchLimit: batchLimit)
    }

    mutating func remove(_ key: ObjectKey) {
        if tables[tableOfEntity[Int(key.entity)]].remove(store: key.store, number: key.number) { count -= 1 }
    }

    /// Removes every object, and returns them sorted by key, table after table: usually the order of their creation, so
    /// that memory is accessed sequentially.
    mutating func takeAll() -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(count)
        for index in tables.indices { tables[index].takeAll(into: &objects) }
        removeYoung()
        count = 0
        threshold = Self.smallestThreshold
        return objects
    }

    var objects: [NSManagedObject] {
        var result: [NSManagedObject] = []
        result.reserveCapacity(count)
        for table in tables { table.forEach { result.append($0) } }
        return result
    }

    var isSweepDue: Bool { count > threshold }

    /// Whether there are as many young objects as the limit, and twice as many as the last small sweep has kept.
    var isSmallSweepDue: Bool { young.count >= max(youngLimit, youngSurvivors * 2) }

    /// Whether adding a number of objects makes a sweep due.
    func isSweepDue(before additional: Int) -> Bool { count + additional > threshold }

    /// Reserves capacity for objects of an entity's hierarchy. Raises the threshold, so that the new objects alone do
    /// not make a sweep due.
    mutating func reserve(_ additional: Int, entity: Int) {
        tables[tableOfEntity[entity]].reserve(additional)
        threshold = max(threshold, (count + additional) * 2)
    }

    /// Releases the objects that have no other references, except those to be kept. Cost: a step for each registered
    /// object.
    mutating func sweep(keeping isKept: (NSManagedObject) -> Bool, release: (NSManagedObject) -> Void) {
        var remaining = 0
        for index in tables.indices {
            tables[index].removeUnreferenced(keeping: isKept, release: release)
            remaining += tables[index].count
        }
        removeYoung()
        count = remaining
        threshold = max(Self.smallestThreshold, remaining * 2)
    }

    /// Releases the young objects that have no other references, except those to be kept. Those that were looked up
    /// again are no longer young.
    mutating func sweepYoung(keeping isKept: (NSManagedObject) -> Bool, release: (NSManagedObject) -> Void) {
        var survivors: ContiguousArray<ObjectKey> = []
        for key in young {
            let table = tableOfEntity[Int(key.entity)]
            switch tables[table].sweep(store: key.store, number: key.number, keeping: isKept, release: release) {
            case .released: count -= 1
            case .kept: survivors.append(key)
            case .settled: break
            }
        }
        young = survivors
        youngSurvivors = survivors.count
    }

    /// Releases those of some objects that have no other references, except those to be kept.
    mutating func releaseUnreferenced(
        _ keys: ContiguousArray<ObjectKey>, keeping isKept: (NSManagedObject) -> Bool,
        release: (NSManagedObject) -> Void
    ) {
        for key in keys {
            let table = tableOfEntity[Int(key.entity)]
            let outcome = tables[table].release(
                store: key.store, number: key.number, keeping: isKept, release: release)
            if outcome == .released { count -= 1 }
        }
    }

    /// Leaves the young objects to the full sweeps.
    mutating func removeYoung() {
        young.removeAll(keepingCapacity: true)
        youngSurvivors = 0
    }
}
