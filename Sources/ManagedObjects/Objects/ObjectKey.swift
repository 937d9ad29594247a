import Synchronization

/// Identifies an object within a coordinator: its store, entity and row.
///
/// A key is sixteen plain bytes. Objects refer to each other by keys and never by pointers, so that a graph of a
/// million objects can be deallocated without recursion, and an unchanged row needs no object.
package struct ObjectKey: Sendable {
    /// The store's number in its coordinator, starting at 1; 0 as long as the object belongs to no store.
    package var store: UInt16
    /// The index of the object's own (leaf) entity in the model, see `NSEntityDescription.index`.
    package var entity: UInt16
    /// The primary key if positive, a temporary number unique in the process if negative.
    package var number: Int64

    // Inlined into other modules, because keys are made for each row.
    @inlinable @inline(__always)
    package init(store: UInt16, entity: UInt16, number: Int64) {
        self.store = store
        self.entity = entity
        self.number = number
    }

    /// True until the object is saved, or its permanent ID has been obtained.
    package var isTemporary: Bool { number < 0 }

    /// A new temporary key for an object of the entity.
    static func temporary(entity: Int) -> ObjectKey {
        ObjectKey(
            store: 0, entity: UInt16(truncatingIfNeeded: entity),
            number: temporaryCounter.subtract(1, ordering: .relaxed).newValue)
    }

    private static let temporaryCounter = Atomic<Int64>(0)
}

extension ObjectKey: Hashable {
    @inlinable @inline(__always)
    package static func == (one: ObjectKey, other: ObjectKey) -> Bool {
        one.number == other.number && one.entity == other.entity && one.store == other.store
    }

    @inlinable
    package func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        hasher.combine(entity)
    }
}

/// The hash function for keys in tables with open addressing. It spreads consecutive primary keys, and has no random
/// seed, so that the order of a table is deterministic.
enum KeyHash {
    @inline(__always)
    static func home(_ number: Int64, _ mask: Int) -> Int { spread(UInt64(bitPattern: number)) & mask }

    @inline(__always)
    static func spread(_ bits: UInt64) -> Int { Int(truncatingIfNeeded: (bits &* 0x9E37_79B9_7F4A_7C15) >> 20) }
}

extension ObjectKey {
    /// A hash with well distributed low bits.
    @inline(__always)
    var spread: Int { KeyHash.spread(UInt64(bitPattern: number) ^ (UInt64(entity) << 48)) }
}

/// An ordered list of unique object keys: the members of a to-many relationship.
///
/// Small lists are searched linearly; beyond sixteen members a hash table of positions is used. A key that is removed
/// from the middle of a long list leaves a gap, so that removing all members one by one is linear.
struct KeyList {
    /// The keys in order, and the gaps between them.
    private var entries: ContiguousArray<ObjectKey> = []
    private var gaps = 0
    private var table: PositionTable?

    /// The entry of a removed key.
    fileprivate static let gap = ObjectKey(store: 0, entity: 0, number: 0)
    /// The longest list that is searched without a table.
    private static let longestWithoutTable = 16

    init() {}

    init(_ keys: ContiguousArray<ObjectKey>) {
        entries = keys
    }

    /// The keys in order. Constant time, unless keys have been removed since ``closeGaps()``.
    var keys: ContiguousArray<ObjectKey> { gaps == 0 ? entries : entries.filter { $0 != Self.gap } }

    var count: Int { entries.count - gaps }
    var isEmpty: Bool { count == 0 }
    var last: ObjectKey? { entries.last }

    /// The position of a key, if it is a member.
    mutating func position(of key: ObjectKey) -> Int? {
        closeGaps()
        return entry(of: key)
    }

    mutating func contains(_ key: ObjectKey) -> Bool { entry(of: key) != nil }

    /// The number of keys before a key, if it is a member. Constant time, unless keys have been removed since ``closeGaps()``.
    mutating func rank(of key: ObjectKey) -> Int? {
        guard let position = entry(of: key), gaps > 0 else { return entry(of: key) }
        return entries[..<position].count { $0 != Self.gap }
    }

    /// Whether both keys are members, and one comes before the other. Constant time.
    mutating func precedes(_ one: ObjectKey, _ other: ObjectKey) -> Bool {
        guard let one = entry(of: one), let other = entry(of: other) else { return false }
        return one < other
    }

    private mutating func entry(of key: ObjectKey) -> Int? {
        guard entries.count > Self.longestWithoutTable else { return entries.firstIndex(of: key) }
        if table == nil { table = PositionTable(entries) }
        return table?.position(of: key, in: entries)
    }

    /// Moves the keys together, so that ``keys`` is an array without a copy.
    mutating func closeGaps() {
        guard gaps > 0 else { return }
        entries = keys
        gaps = 0
        table = nil
    }

    mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    /// Appends a key. It must not be a member yet.
    mutating func append(_ key: ObjectKey) {
        entries.append(key)
        if entries.count > Self.longestWithoutTable { table?.insert(entries.count - 1, of: entries) }
    }

    mutating func insert(_ key: ObjectKey, at position: Int) {
        guard position < count else { return append(key) }
        closeGaps()
        entries.insert(key, at: position)
        table = nil
    }

    /// Removes a key and returns whether it was a member. Constant time on average.
    ///
    /// - Parameter keepsOrder: Whether the other keys stay in order; if not, the last key may take the place.
    @discardableResult
    mutating func remove(_ key: ObjectKey, keepsOrder: Bool) -> Bool {
        guard let position = entry(of: key) else { return false }
        table?.remove(position, of: entries)
        let last = entries.count - 1
        if position == last {
            removeLastEntry()
        } else if entries.count <= Self.longestWithoutTable {
            entries.remove(at: position)
        } else if keepsOrder || gaps > 0 {
            entries[position] = Self.gap
            gaps += 1
            if gaps > entries.count / 2 { closeGaps() }
        } else {
            table?.move(last, to: position, of: entries)
            entries[position] = entries[last]
            removeLastEntry()
        }
        return true
    }

    /// Removes the last entry, and gaps before it, so that the last entry is always a key.
    private mutating func removeLastEntry() {
        entries.removeLast()
        while gaps > 0, entries.last == Self.gap {
            entries.removeLast()
            gaps -= 1
        }
        if entries.count <= Self.longestWithoutTable { table = nil }
    }

    /// Replaces all keys: temporary keys by permanent ones.
    mutating func replace(_ transform: (ObjectKey) -> ObjectKey) {
        closeGaps()
        for index in entries.indices { entries[index] = transform(entries[index]) }
        table = nil
    }

    /// Replaces one key. Constant time on average.
    mutating func replace(_ key: ObjectKey, by other: ObjectKey) {
        guard key != other, let position = entry(of: key) else { return }
        table?.remove(position, of: entries)
        entries[position] = other
        table?.insert(position, of: entries)
    }
}

/// The position of each key of a list: a hash table with open addressing.
private struct PositionTable {
    private static let free: Int32 = -1
    private static let removed: Int32 = -2
    private var slots: ContiguousArray<Int32>
    private var mask: Int
    private var used = 0

    init(_ keys: ContiguousArray<ObjectKey>) {
        var capacity = 64
        while capacity < keys.count * 2 { capacity *= 2 }
        slots = ContiguousArray(repeating: Self.free, count: capacity)
        mask = capacity - 1
        for position in keys.indices where keys[position] != KeyList.gap { field(position, of: keys[position]) }
    }

    func position(of key: ObjectKey, in keys: ContiguousArray<ObjectKey>) -> Int? {
        var slot = key.spread & mask
        while slots[slot] != Self.free {
            let position = Int(slots[slot])
            if position >= 0, keys[position] == key { return position }
            slot = (slot + 1) & mask
        }
        return nil
    }

    mutating func insert(_ position: Int, of keys: ContiguousArray<ObjectKey>) {
        if (used + 1) * 2 > slots.count {
            self = PositionTable(keys)
        } else {
            field(position, of: keys[position])
        }
    }

    mutating func remove(_ position: Int, of keys: ContiguousArray<ObjectKey>) {
        if let slot = slot(of: position, key: keys[position]) { slots[slot] = Self.removed }
    }

    mutating func move(_ position: Int, to other: Int, of keys: ContiguousArray<ObjectKey>) {
        if let slot = slot(of: position, key: keys[position]) { slots[slot] = Int32(other) }
    }

    private mutating func field(_ position: Int, of key: ObjectKey) {
        var slot = key.spread & mask
        while slots[slot] >= 0 { slot = (slot + 1) & mask }
        if slots[slot] == Self.free { used += 1 }
        slots[slot] = Int32(position)
    }

    private func slot(of position: Int, key: ObjectKey) -> Int? {
        var slot = key.spread & mask
        while slots[slot] != Self.free {
            if slots[slot] == Int32(position) { return slot }
            slot = (slot + 1) & mask
        }
        return nil
    }
}
