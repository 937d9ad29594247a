/// The identity map of a context: one object for each key.
///
/// The map owns its objects. Which of them nobody else holds any more is seen by a sweep, now and then, on the context's
/// own queue: letting objects unregister themselves when they die would have them do so on whichever thread lets them
/// go. An object that has unsaved changes is never swept.
struct ObjectRegistry {
    private var tables: [KeyTable]
    /// The table of each entity: that of its root.
    private let tableOfEntity: [Int]
    /// The layouts of the model's entities, by their positions.
    let layouts: ContiguousArray<EntityLayout>
    /// Registered objects, over all tables; a sweep is due when it has doubled since the last.
    private(set) var count = 0
    private var threshold = ObjectRegistry.smallestThreshold

    private static let smallestThreshold = 4096

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
    mutating func register(_ object: NSManagedObject, as key: ObjectKey) {
        tables[tableOfEntity[Int(key.entity)]].insert(object, store: key.store, number: key.number)
        count += 1
    }

    /// Faults to read together with one that fires: of its hierarchy and store, and nothing is known of them but their keys.
    mutating func looseFaults(around key: ObjectKey, epoch: Int) -> [ObjectKey] {
        tables[tableOfEntity[Int(key.entity)]].looseFaults(around: key, epoch: epoch)
    }

    mutating func forget(_ key: ObjectKey) {
        if tables[tableOfEntity[Int(key.entity)]].remove(store: key.store, number: key.number) { count -= 1 }
    }

    mutating func removeAll() {
        for index in tables.indices { tables[index] = KeyTable() }
        count = 0
        threshold = Self.smallestThreshold
    }

    var objects: [NSManagedObject] {
        var result: [NSManagedObject] = []
        result.reserveCapacity(count)
        for table in tables { table.forEach { result.append($0) } }
        return result
    }

    var isSweepDue: Bool { count > threshold }

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
        count = remaining
        threshold = max(Self.smallestThreshold, remaining * 2)
    }
}

/// Objects by number: open addressing with linear probing.
private struct KeyTable {
    private struct Entry {
        var number: Int64 = 0
        /// Nil where the entry is free.
        var object: NSManagedObject?
    }

    private var entries: ContiguousArray<Entry> = []
    private var mask = 0
    private(set) var count = 0
    private var looseFaults = LooseFaults()

    @inline(__always)
    private static func home(_ number: Int64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15) >> 20) & mask
    }

    // The number is compared before the object is touched: every touch counts a reference.

    @inline(__always)
    func object(store: UInt16, number: Int64) -> NSManagedObject? {
        guard count > 0 else { return nil }
        var slot = Self.home(number, mask)
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

    /// How far from an object others are looked for.
    private static let looseFaultReach = 4096

    mutating func looseFaults(around key: ObjectKey, epoch: Int) -> [ObjectKey] {
        let limit = looseFaults.next(in: epoch) - 1
        guard count > 0, limit > 0 else { return [] }
        var found: [ObjectKey] = []
        var slot = Self.home(key.number, mask)
        for _ in 0..<min(Self.looseFaultReach, entries.count) where found.count < limit {
            slot = (slot + 1) & mask
            guard let object = entries[slot].object, object.page == nil, object.committed == nil,
                object.isFaultInternally, object.key.store == key.store, object.key.number > 0, object.key != key,
                object.state.isEmpty
            else { continue }
            found.append(object.key)
        }
        return found
    }

    mutating func insert(_ object: NSManagedObject, store: UInt16, number: Int64) {
        reserve(1)
        var slot = Self.home(number, mask)
        while entries[slot].object != nil {
            if entries[slot].number == number, entries[slot].object === object { return }
            slot = (slot + 1) & mask
        }
        entries[slot] = Entry(number: number, object: object)
        count += 1
    }

    @discardableResult
    mutating func remove(store: UInt16, number: Int64) -> Bool {
        guard count > 0 else { return false }
        var slot = Self.home(number, mask)
        while entries[slot].object != nil {
            if entries[slot].number == number, let object = entries[slot].object,
                number < 0 || object.key.store == store
            {
                close(slot)
                return true
            }
            slot = (slot + 1) & mask
        }
        return false
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

    /// Makes room for more objects.
    mutating func reserve(_ additional: Int) {
        guard (count + additional) * 4 > entries.count * 3 else { return }
        var capacity = max(16, entries.count * 2)
        while capacity * 3 < (count + additional) * 4 { capacity *= 2 }
        rehash(capacity: capacity)
    }

    /// Puts the objects into a table of another size: moved, so that no reference is counted.
    private mutating func rehash(capacity: Int) {
        // One by one, as each copy of an entry would count a reference.
        var old = ContiguousArray<Entry>(unsafeUninitializedCapacity: capacity) { buffer, count in
            for index in 0..<capacity { buffer.initializeElement(at: index, to: Entry()) }
            count = capacity
        }
        swap(&old, &entries)
        let mask = capacity - 1
        self.mask = mask
        old.withUnsafeMutableBufferPointer { old in
            entries.withUnsafeMutableBufferPointer { entries in
                for index in old.indices where old[index].object != nil {
                    var slot = Self.home(old[index].number, mask)
                    while entries[slot].object != nil { slot = (slot + 1) & mask }
                    swap(&entries[slot], &old[index])
                }
            }
        }
    }

    /// Empties a slot and moves up what was probed past it.
    private mutating func close(_ emptied: Int) {
        var hole = emptied
        entries[hole].object = nil
        count -= 1
        var slot = (hole + 1) & mask
        while entries[slot].object != nil {
            let distance = (slot - Self.home(entries[slot].number, mask)) & mask
            if distance >= (slot - hole) & mask {
                entries.swapAt(hole, slot)
                hole = slot
            }
            slot = (slot + 1) & mask
        }
    }
}
