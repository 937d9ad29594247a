/// The identity map of a context: one object for each key.
///
/// The map owns its objects. Which of them nobody else holds any more is seen by a sweep, now and then, on the context's
/// own queue: letting objects unregister themselves when they die would have them do so on whichever thread lets them
/// go. An object that has unsaved changes is never swept.
///
/// Most objects that a loop comes by through relationships are met once. A small sweep looks at those alone that have been
/// made since the last, or were held then, so that their memory is used again while it is still near the processor. Who was
/// met a second time is left to the sweeps of all.
struct ObjectRegistry {
    private var tables: [KeyTable]
    /// The table of each entity: that of its root.
    private let tableOfEntity: [Int]
    /// The layouts of the model's entities, by their positions.
    let layouts: ContiguousArray<EntityLayout>
    /// Registered objects, over all tables; a sweep is due when it has doubled since the last.
    private(set) var count = 0
    private var threshold = ObjectRegistry.smallestThreshold
    /// The keys of objects that have been met once, and may be held by nobody.
    private var young: ContiguousArray<ObjectKey> = []
    /// Of those, how many the last small sweep has left.
    private var youngSurvivors = 0

    private static let smallestThreshold = 4096
    /// How many young objects make a small sweep due: some hundred kilobytes of them.
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

    /// Registers an object under its key. One that gets another key is forgotten by its old one.
    mutating func register(_ object: NSManagedObject, as key: ObjectKey, isYoung: Bool = false) {
        tables[tableOfEntity[Int(key.entity)]].insert(object, store: key.store, number: key.number)
        count += 1
        if isYoung { young.append(key) }
    }

    /// Faults to read together with one that fires: of its hierarchy and store, and nothing is known of them but their keys.
    mutating func looseFaults(around key: ObjectKey, epoch: Int) -> [ObjectKey] {
        tables[tableOfEntity[Int(key.entity)]].looseFaults(around: key, epoch: epoch)
    }

    mutating func forget(_ key: ObjectKey) {
        if tables[tableOfEntity[Int(key.entity)]].remove(store: key.store, number: key.number) { count -= 1 }
    }

    /// Forgets every object, and hands them over in the order of their keys, table after table: that in which most were
    /// made, so that memory is gone through from one end to the other.
    mutating func takeAll() -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(count)
        for index in tables.indices { tables[index].takeAll(into: &objects) }
        forgetYoung()
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

    /// When there are a thousand young objects, or twice as many as were held the last time.
    var isSmallSweepDue: Bool { young.count >= max(youngLimit, youngSurvivors * 2) }

    /// Whether so many more objects make a sweep due.
    func isSweepDue(before additional: Int) -> Bool { count + additional > threshold }

    /// Makes room for objects of an entity's hierarchy. Those that will come in are taken as seen by a sweep.
    mutating func reserve(_ additional: Int, entity: Int) {
        tables[tableOfEntity[entity]].reserve(additional)
        threshold = max(threshold, (count + additional) * 2)
    }

    /// Lets go of the objects that nobody else holds, but for those to be kept. A step for each registered object.
    mutating func sweep(keeping isKept: (NSManagedObject) -> Bool, release: (NSManagedObject) -> Void) {
        var remaining = 0
        for index in tables.indices {
            tables[index].removeUnreferenced(keeping: isKept, release: release)
            remaining += tables[index].count
        }
        forgetYoung()
        count = remaining
        threshold = max(Self.smallestThreshold, remaining * 2)
    }

    /// Lets go of the young objects that nobody holds, but for those to be kept. Those that were met again are young no more.
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

    /// Leaves the young objects to the sweeps of all.
    mutating func forgetYoung() {
        young.removeAll(keepingCapacity: true)
        youngSurvivors = 0
    }
}
