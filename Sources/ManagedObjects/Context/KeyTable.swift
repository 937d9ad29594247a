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
        let reach = batchLimit * batchLimit / 16
        for _ in 0..<min(reach, entries.count) where found.count < limit {
            slot = (slot + 1) & mask
            guard let object = entries[slot].object, object.page == nil, object.committed == nil,
                object.isFaultInternally, object.key.store == key.store, object.key.number > 0, object.key != key,
                object.state.subtracting(.metAgain).isEmpty
            else { continue }
            found.append(object.key)
        }
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
        guard let slot = slot(store: store, number: number), entries[slot].object?.state.contains(.metAgain) == false
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
