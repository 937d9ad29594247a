/// One to-many relationship of one object: its committed and its current members.
///
/// A relationship that is not loaded can gain and lose members from the other side of an edit. Such changes are pending
/// until it is loaded, so that setting a to-one never loads the inverse.
///
/// Without dynamic checks of exclusive access, because every access to a member uses this class, and an object belongs
/// to one queue.
final class ToManyState {
    /// The changes while the members are not loaded.
    private final class Pending {
        var added = KeyList()
        var removed = KeyList()

        var isEmpty: Bool { added.isEmpty && removed.isEmpty }
    }

    /// The current members, if they are loaded and not shared with a batch.
    @exclusivity(unchecked) private var own = KeyList()
    /// The members as part of the batch that they were loaded with, until a list of them is needed: most relationships
    /// are read once and never changed.
    @exclusivity(unchecked) private var shared: MemberBatch.Run?
    /// The members in the store; nil when unchanged.
    @exclusivity(unchecked) private(set) var committed: ContiguousArray<ObjectKey>?
    @exclusivity(unchecked) private(set) var isLoaded: Bool
    @exclusivity(unchecked) private var pending: Pending?
    /// Positions in an ordered relationship with a join table, parallel to the committed members.
    @exclusivity(unchecked) private(set) var positions: ContiguousArray<Int64>?
    /// The members' new positions, parallel to `members`, assigned by the plan of a save.
    @exclusivity(unchecked) var newPositions: ContiguousArray<Int64>?

    init(isLoaded: Bool) {
        self.isLoaded = isLoaded
    }

    /// The state of an inserted object: all its members are new.
    init(ofNewObject members: KeyList) {
        isLoaded = true
        own = members
        committed = []
    }

    // MARK: - Reading

    /// The current members, if they are loaded.
    var members: KeyList {
        takeShared()
        return own
    }

    /// Members added and removed while they are not loaded.
    var added: KeyList { pending?.added ?? KeyList() }
    var removed: KeyList { pending?.removed ?? KeyList() }

    var isChanged: Bool { committed != nil || pending?.isEmpty == false }

    /// The members as part of a batch, until a list of them is needed.
    var run: MemberBatch.Run? { shared }

    /// Whether the members are loaded and there are none.
    var hasNoMembers: Bool { isLoaded && shared == nil && own.isEmpty }

    func contains(_ key: ObjectKey) -> Bool {
        takeShared()
        return own.contains(key)
    }

    /// The new position of a member, if assigned by the plan of a save.
    func newPosition(of key: ObjectKey) -> Int64? {
        takeShared()
        guard let newPositions, let index = own.position(of: key), index < newPositions.count else { return nil }
        return newPositions[index]
    }

    /// The unsaved additions and removals.
    func differences() -> (added: ContiguousArray<ObjectKey>, removed: ContiguousArray<ObjectKey>) {
        guard isLoaded else { return (added.keys, removed.keys) }
        guard let committed else { return ([], []) }
        if committed.isEmpty { return (own.keys, []) }
        var before = KeyList(committed)
        return (
            ContiguousArray(own.keys.filter { !before.contains($0) }),
            ContiguousArray(committed.filter { !own.contains($0) })
        )
    }

    // MARK: - Loading

    /// Sets the members that a batch has loaded.
    func load(_ run: MemberBatch.Run) {
        guard pending?.isEmpty != false else { return load(run.keys, positions: run.positions) }
        shared = run
        positions = run.positions
        isLoaded = true
    }

    /// Sets the members in the store, and applies pending changes.
    func load(_ stored: ContiguousArray<ObjectKey>, positions: ContiguousArray<Int64>? = nil) {
        self.positions = positions
        own = KeyList(stored)
        isLoaded = true
        guard let pending, !pending.isEmpty else { return }
        committed = stored
        for key in pending.removed.keys { own.remove(key, keepsOrder: true) }
        for key in pending.added.keys where !own.contains(key) { own.append(key) }
        self.pending = nil
    }

    /// Copies the members from the batch into a list.
    @inline(__always)
    private func takeShared() {
        guard let run = shared else { return }
        own = KeyList(run.keys)
        shared = nil
    }

    // MARK: - Changing

    /// Adds a member at a position, or at the end. Returns whether it was added.
    @discardableResult
    func add(_ key: ObjectKey, at position: Int? = nil) -> Bool {
        guard isLoaded else {
            let pending = pendingChanges()
            if pending.removed.remove(key, keepsOrder: true) { return true }
            guard !pending.added.contains(key) else { return false }
            pending.added.append(key)
            return true
        }
        takeShared()
        guard !own.contains(key) else { return false }
        keepCommitted()
        if let position { own.insert(key, at: position) } else { own.append(key) }
        return true
    }

    /// Removes a member. Returns whether it may have been one.
    @discardableResult
    func remove(_ key: ObjectKey, keepsOrder: Bool) -> Bool {
        guard isLoaded else {
            let pending = pendingChanges()
            if pending.added.remove(key, keepsOrder: true) { return true }
            guard !pending.removed.contains(key) else { return false }
            pending.removed.append(key)
            return true
        }
        takeShared()
        guard own.contains(key) else { return false }
        keepCommitted()
        return own.remove(key, keepsOrder: keepsOrder)
    }

    /// Sorts the members by an order; members that are not in it follow. Returns whether the order has changed.
    func takeOrder(_ order: ContiguousArray<ObjectKey>) -> Bool {
        takeShared()
        var ordered = KeyList(order.filter { own.contains($0) })
        for key in own.keys where !ordered.contains(key) { ordered.append(key) }
        guard ordered.keys != own.keys else { return false }
        replaceMembers(ordered)
        return true
    }

    /// Unloads the members; unsaved changes stay pending.
    func unload() {
        guard isLoaded else { return }
        let (added, removed) = differences()
        isLoaded = false
        own = KeyList()
        shared = nil
        committed = nil
        let pending = pendingChanges()
        pending.added = KeyList(added)
        pending.removed = KeyList(removed)
    }

    /// Replaces the loaded members by others, or changes their order.
    func replaceMembers(_ members: KeyList) {
        takeShared()
        keepCommitted()
        own = members
    }

    /// Removes a deleted member from all lists.
    func removeFromAll(_ key: ObjectKey) {
        takeShared()
        if isLoaded { own.remove(key, keepsOrder: true) }
        committed?.removeAll { $0 == key }
        pending?.added.remove(key, keepsOrder: true)
        pending?.removed.remove(key, keepsOrder: true)
    }

    /// Drops the changes when the members are equal to those in the store again.
    func removeEmptyChanges(isOrdered: Bool) {
        guard isLoaded, let before = committed else { return }
        let now = members.keys
        if isOrdered ? before == now : before.count == now.count && Set(before) == Set(now) { committed = nil }
    }

    /// Replaces temporary keys by permanent ones.
    func resolve(by keys: PermanentKeys) {
        // Members of a batch come from a store, so they are permanent.
        if own.hasTemporaryKeys { own.replace(keys.permanent) }
        if let pending {
            if pending.added.hasTemporaryKeys { pending.added.replace(keys.permanent) }
            if pending.removed.hasTemporaryKeys { pending.removed.replace(keys.permanent) }
        }
        if let committed, committed.contains(where: \.isTemporary) {
            self.committed = ContiguousArray(committed.map(keys.permanent))
        }
    }

    /// Marks the current members as those in the store.
    func commit() {
        committed = nil
        if let assigned = newPositions { positions = assigned }
        newPositions = nil
        if !isLoaded { pending = nil }
    }

    func copy() -> ToManyState {
        let copy = ToManyState(isLoaded: isLoaded)
        copy.own = own
        copy.shared = shared
        copy.committed = committed
        if let pending {
            let changes = copy.pendingChanges()
            changes.added = pending.added
            changes.removed = pending.removed
        }
        copy.positions = positions
        return copy
    }

    private func keepCommitted() {
        if committed == nil { committed = own.keys }
    }

    private func pendingChanges() -> Pending {
        if let pending { return pending }
        let made = Pending()
        pending = made
        return made
    }
}

extension KeyList {
    fileprivate var hasTemporaryKeys: Bool { keys.contains(where: \.isTemporary) }
}
