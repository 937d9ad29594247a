/// An ordered list of unique object keys: the members of a to-many relationship.
///
/// Small lists are searched linearly; beyond sixteen members a hash table of positions is used.
struct KeyList {
    private(set) var keys: ContiguousArray<ObjectKey> = []
    private var table: PositionTable?

    init() {}

    init(_ keys: ContiguousArray<ObjectKey>) {
        self.keys = keys
    }

    var count: Int { keys.count }
    var isEmpty: Bool { keys.isEmpty }

    /// The position of a key, if it is a member.
    mutating func position(of key: ObjectKey) -> Int? {
        guard keys.count > 16 else { return keys.firstIndex(of: key) }
        if table == nil { table = PositionTable(keys) }
        return table?.position(of: key, in: keys)
    }

    mutating func contains(_ key: ObjectKey) -> Bool { position(of: key) != nil }

    mutating func reserveCapacity(_ count: Int) { keys.reserveCapacity(count) }

    /// Appends a key. It must not be a member yet.
    mutating func append(_ key: ObjectKey) {
        keys.append(key)
        if keys.count > 16 { table?.insert(keys.count - 1, of: keys) }
    }

    mutating func insert(_ key: ObjectKey, at position: Int) {
        guard position < keys.count else { return append(key) }
        keys.insert(key, at: position)
        table = nil
    }

    /// Removes a key and returns whether it was a member. The order is kept only on request, at a cost proportional to
    /// the number of members behind the key.
    @discardableResult
    mutating func remove(_ key: ObjectKey, keepsOrder: Bool) -> Bool {
        guard let position = position(of: key) else { return false }
        if keepsOrder || keys.count <= 16 {
            keys.remove(at: position)
            table = nil
        } else {
            table?.remove(position, of: keys)
            let last = keys.count - 1
            if position != last {
                table?.move(last, to: position, of: keys)
                keys[position] = keys[last]
            }
            keys.removeLast()
        }
        return true
    }

    mutating func removeAll() {
        keys.removeAll()
        table = nil
    }

    /// Replaces keys: temporary keys by permanent ones.
    mutating func replace(_ transform: (ObjectKey) -> ObjectKey) {
        for index in keys.indices { keys[index] = transform(keys[index]) }
        table = nil
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
        for position in keys.indices { field(position, of: keys[position]) }
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
