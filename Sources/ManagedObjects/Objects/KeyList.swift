/// An ordered list of unique object keys: the members of a to-many relationship.
///
/// Small lists are searched linearly; beyond sixteen members a hash table of positions is used. A key that is removed
/// from the middle of a long list leaves a gap, so that removing all members one by one is linear.
///
/// A list can return to a mark. A mark is not a copy: the changes after it are listed.
struct KeyList {
    /// The keys in order, and the gaps between them.
    private var entries: ContiguousArray<ObjectKey> = []
    private var gaps = 0
    private var table: PositionTable?
    /// The changes after each mark, the oldest first; nil if there is no mark.
    private var changes: ContiguousArray<ChangesSinceMark>?

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
        noteAll()
        entries = keys
        gaps = 0
        table = nil
    }

    mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    /// Appends a key. It must not be a member yet.
    mutating func append(_ key: ObjectKey) {
        note(.append)
        entries.append(key)
        if entries.count > Self.longestWithoutTable { table?.insert(entries.count - 1, of: entries) }
    }

    mutating func insert(_ key: ObjectKey, at position: Int) {
        guard position < count else { return append(key) }
        closeGaps()
        noteAll()
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
            let gapsBefore = gaps
            removeLastEntry()
            note(.removeLast(key, gapsBefore: gapsBefore - gaps))
        } else if entries.count <= Self.longestWithoutTable {
            note(.remove(key, at: position))
            entries.remove(at: position)
        } else if keepsOrder || gaps > 0 {
            note(.leaveGap(key, at: position))
            entries[position] = Self.gap
            gaps += 1
            if gaps > entries.count / 2 { closeGaps() }
        } else {
            note(.replaceByLast(key, at: position))
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
        removeUnneededTable()
    }

    private mutating func removeUnneededTable() {
        if entries.count <= Self.longestWithoutTable { table = nil }
    }

    /// Takes the keys of another list; the marks stay.
    mutating func replaceAll(with other: KeyList) {
        noteAll()
        (entries, gaps, table) = (other.entries, other.gaps, other.table)
    }

    /// Replaces all keys: temporary keys by permanent ones.
    mutating func replace(_ transform: (ObjectKey) -> ObjectKey) {
        closeGaps()
        noteAll()
        for index in entries.indices { entries[index] = transform(entries[index]) }
        table = nil
    }

    /// Replaces one key. Constant time on average.
    mutating func replace(_ key: ObjectKey, by other: ObjectKey) {
        guard key != other, let position = entry(of: key) else { return }
        note(.replace(key, at: position))
        setKey(other, at: position)
    }

    private mutating func setKey(_ key: ObjectKey, at position: Int) {
        table?.remove(position, of: entries)
        entries[position] = key
        table?.insert(position, of: entries)
    }

    // MARK: - Marks

    /// Marks the present keys, so that ``restore(to:)`` can return to them. Until ``removeMarks()``, each change is listed.
    mutating func mark() -> Int {
        var marks = changes ?? []
        changes = nil
        if marks.last?.isEmpty != true { marks.append(ChangesSinceMark()) }
        changes = marks
        return marks.count - 1
    }

    /// Takes back the changes since a mark, which stays. Cost: a step for each of them.
    mutating func restore(to mark: Int) {
        guard var marks = changes, mark < marks.count else { return }
        changes = nil
        for index in (mark..<marks.count).reversed() { takeBack(marks[index]) }
        marks.removeSubrange((mark + 1)...)
        marks[mark] = ChangesSinceMark()
        changes = marks
    }

    mutating func removeMarks() { changes = nil }

    private mutating func note(_ change: Change) {
        guard let index = changes?.indices.last, changes?[index].entries == nil else { return }
        changes?[index].list.append(change)
    }

    /// Keeps the entries before a change of all.
    private mutating func noteAll() {
        guard let index = changes?.indices.last, changes?[index].entries == nil else { return }
        changes?[index].entries = (entries, gaps)
    }

    private mutating func takeBack(_ changes: ChangesSinceMark) {
        if let entries = changes.entries {
            (self.entries, gaps) = entries
            table = nil
        }
        for change in changes.list.reversed() { takeBack(change) }
    }

    private mutating func takeBack(_ change: Change) {
        switch change {
        case .append:
            table?.remove(entries.count - 1, of: entries)
            entries.removeLast()
            removeUnneededTable()
        case .removeLast(let key, let gapsBefore):
            entries.append(contentsOf: repeatElement(Self.gap, count: gapsBefore))
            gaps += gapsBefore
            append(key)
        case .remove(let key, let position):
            entries.insert(key, at: position)
        case .leaveGap(let key, let position):
            entries[position] = key
            gaps -= 1
            table?.insert(position, of: entries)
        case .replaceByLast(let key, let position):
            // Appended last, because that may build the table anew.
            let moved = entries[position]
            setKey(key, at: position)
            append(moved)
        case .replace(let key, let position):
            setKey(key, at: position)
        }
    }

    /// The changes of a list between a mark and the next one.
    private struct ChangesSinceMark {
        var list: ContiguousArray<Change> = []
        /// The entries after the listed changes, and the gaps in them, if a change of all followed. Later ones need not be listed.
        var entries: (ContiguousArray<ObjectKey>, gaps: Int)?

        var isEmpty: Bool { list.isEmpty && entries == nil }
    }

    /// A change, with what taking it back needs.
    private enum Change {
        case append
        case removeLast(ObjectKey, gapsBefore: Int)
        /// The later keys of a short list move up.
        case remove(ObjectKey, at: Int)
        case leaveGap(ObjectKey, at: Int)
        case replaceByLast(ObjectKey, at: Int)
        case replace(ObjectKey, at: Int)
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
