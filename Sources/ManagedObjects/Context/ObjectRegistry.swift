import StoreSupport

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

    /// Whether the registry has a table for objects of an entity.
    func contains(_ entity: UInt16) -> Bool { Int(entity) < tableOfEntity.count }

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
    /// not make a sweep due. The objects that are registered already do not raise it: a context that fetches one page after
    /// another would never be swept.
    mutating func reserve(_ additional: Int, entity: Int) {
        tables[tableOfEntity[entity]].reserve(additional)
        threshold = max(threshold, additional * 2)
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

/// The registered objects of one entity hierarchy, by the number of their key: a hash table with open addressing and
/// linear probing.
struct KeyTable {
    private struct Entry {
        var number: Int64 = 0
        /// Nil if the entry is free.
        var object: NSManagedObject?
    }

    private var entries: ContiguousArray<Entry> = []
    private var mask = 0
    private(set) var count = 0
    private var looseFaults = BatchGrowth(aloneLimit: 3)
    /// The number of slots that the next search for loose faults looks at.
    private var searchLength = Int.max

    // The number is compared before the object is accessed, because every access retains it.

    @inline(__always)
    func object(store: UInt16, number: Int64) -> NSManagedObject? {
        guard count > 0 else { return nil }
        var slot = KeyHash.home(number, mask)
        while entries[slot].object != nil {
            if entries[slot].number == number, let object = entries[slot].object,
                number < 0 || object.key.store == store
            {
                return object
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    mutating func looseFaults(around key: ObjectKey, epoch: Int, batchLimit: Int) -> [ObjectKey] {
        let limit = looseFaults.next(in: epoch, atMost: batchLimit) - 1
        guard count > 0, limit > 0 else { return [] }
        var found: [ObjectKey] = []
        var slot = KeyHash.home(key.number, mask)
        // The more faults a statement reads, the more expensive it is, and the longer the search may be: 4096 slots for
        // 256 faults.
        let longest = min(batchLimit * batchLimit / 16, entries.count)
        let length = min(searchLength, longest)
        var searched = 0
        while searched < length, found.count < limit {
            searched += 1
            slot = (slot + 1) & mask
            guard let object = entries[slot].object, object.page == nil, object.committed == nil,
                object.isFaultInternally, object.key.store == key.store, object.key.number > 0, object.key != key,
                object.flags.subtracting(.metAgain).isEmpty
            else { continue }
            found.append(object.key)
        }
        // A search that finds less than one fault in 512 slots costs more than the statements that it saves; on a server, whose
        // statements cost more, in 2048. The next one is shorter, because a program may make faults one by one.
        let isWorthwhile = found.count * batchLimit * 2 >= searched
        searchLength = isWorthwhile ? min(length * 4, longest) : max(length / 4, 64)
        return found
    }

    mutating func insert(_ object: NSManagedObject, store: UInt16, number: Int64) {
        reserve(1)
        var slot = KeyHash.home(number, mask)
        while entries[slot].object != nil {
            if entries[slot].number == number, entries[slot].object === object { return }
            slot = (slot + 1) & mask
        }
        entries[slot] = Entry(number: number, object: object)
        count += 1
    }

    @discardableResult
    mutating func remove(store: UInt16, number: Int64) -> Bool {
        guard let slot = slot(store: store, number: number) else { return false }
        close(slot)
        return true
    }

    private func slot(store: UInt16, number: Int64) -> Int? {
        guard count > 0 else { return nil }
        var slot = KeyHash.home(number, mask)
        while entries[slot].object != nil {
            if entries[slot].number == number, number < 0 || entries[slot].object?.key.store == store { return slot }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// The result of sweeping an object.
    enum SweepOutcome {
        case released, kept
        /// It was looked up again, or has another key.
        case settled
    }

    /// Releases an object that has no other references and was not looked up again, unless it is to be kept.
    mutating func sweep(
        store: UInt16, number: Int64, keeping isKept: (NSManagedObject) -> Bool, release: (NSManagedObject) -> Void
    ) -> SweepOutcome {
        guard let slot = slot(store: store, number: number), entries[slot].object?.flags.contains(.metAgain) == false
        else { return .settled }
        return self.release(at: slot, keeping: isKept, release: release)
    }

    /// Releases an object that has no other references, unless it is to be kept.
    mutating func release(
        store: UInt16, number: Int64, keeping isKept: (NSManagedObject) -> Bool, release: (NSManagedObject) -> Void
    ) -> SweepOutcome {
        guard let slot = slot(store: store, number: number) else { return .settled }
        return self.release(at: slot, keeping: isKept, release: release)
    }

    @inline(__always)
    private mutating func release(
        at slot: Int, keeping isKept: (NSManagedObject) -> Bool, release: (NSManagedObject) -> Void
    ) -> SweepOutcome {
        // Checked before the object is read from the table, which retains it.
        let isUnreferenced = isKnownUniquelyReferenced(&entries[slot].object)
        guard isUnreferenced, let object = entries[slot].object, !isKept(object) else { return .kept }
        release(object)
        close(slot)
        return .released
    }

    /// Moves the objects, sorted by key, to an array and empties the table.
    mutating func takeAll(into objects: inout [NSManagedObject]) {
        // Moved out of the table as bits, so that no object is accessed early.
        typealias Bits = (number: Int64, object: UnsafeRawPointer?)
        var taken: ContiguousArray<Bits> = []
        taken.reserveCapacity(count)
        entries.withUnsafeMutableBufferPointer { entries in
            entries.withMemoryRebound(to: Bits.self) { entries in
                for slot in entries.indices where entries[slot].object != nil {
                    taken.append(entries[slot])
                    entries[slot].object = nil
                }
            }
        }
        self = KeyTable()
        taken.sort { $0.number < $1.number }
        for case (_, let object?) in taken {
            objects.append(Unmanaged<NSManagedObject>.fromOpaque(object).takeRetainedValue())
        }
    }

    func forEach(_ body: (NSManagedObject) -> Void) {
        for entry in entries {
            if let object = entry.object { body(object) }
        }
    }

    mutating func removeUnreferenced(
        keeping isKept: (NSManagedObject) -> Bool, release: (NSManagedObject) -> Void
    ) {
        guard count > 0 else { return }
        var kept = 0
        for slot in entries.indices where entries[slot].object != nil {
            if isKnownUniquelyReferenced(&entries[slot].object), let object = entries[slot].object, !isKept(object) {
                release(object)
                entries[slot].object = nil
            } else {
                kept += 1
            }
        }
        guard kept < count else { return }
        var capacity = 16
        while capacity * 3 < kept * 4 + 4 { capacity *= 2 }
        count = kept
        rehash(capacity: capacity)
    }

    /// Reserves capacity for more objects.
    mutating func reserve(_ additional: Int) {
        guard (count + additional) * 4 > entries.count * 3 else { return }
        var capacity = max(16, entries.count * 2)
        while capacity * 3 < (count + additional) * 4 { capacity *= 2 }
        rehash(capacity: capacity)
    }

    /// Moves the objects to a table of another size, without retaining them.
    private mutating func rehash(capacity: Int) {
        // Initialised one by one, because copying an entry would retain.
        var old = ContiguousArray<Entry>(unsafeUninitializedCapacity: capacity) { buffer, count in
            LargePages.advise(UnsafeRawBufferPointer(buffer))
            for index in 0..<capacity { buffer.initializeElement(at: index, to: Entry()) }
            count = capacity
        }
        swap(&old, &entries)
        let mask = capacity - 1
        self.mask = mask
        old.withUnsafeMutableBufferPointer { old in
            entries.withUnsafeMutableBufferPointer { entries in
                for index in old.indices where old[index].object != nil {
                    var slot = KeyHash.home(old[index].number, mask)
                    while entries[slot].object != nil { slot = (slot + 1) & mask }
                    swap(&entries[slot], &old[index])
                }
            }
        }
    }

    /// Empties a slot and moves back the entries that were probed past it.
    private mutating func close(_ emptied: Int) {
        var hole = emptied
        entries[hole].object = nil
        count -= 1
        var slot = (hole + 1) & mask
        while entries[slot].object != nil {
            let distance = (slot - KeyHash.home(entries[slot].number, mask)) & mask
            if distance >= (slot - hole) & mask {
                entries.swapAt(hole, slot)
                hole = slot
            }
            slot = (slot + 1) & mask
        }
    }
}
