/// One to-many relationship of one object: its current members, and how they differ from those in the store.
///
/// A relationship that is not loaded can gain and lose members from the other side of an edit. Such changes wait until
/// it is loaded, so that setting a to-one never loads the inverse. A change costs the same in a relationship of any size:
/// the added and removed members are listed, and a copy of the members in the store is made only when their order
/// changes.
///
/// Without dynamic checks of exclusive access, because every access to a member uses this class, and an object belongs
/// to one queue.
package final class ToManyState {
    /// The added and the removed members.
    fileprivate final class Changes {
        var added = KeyList()
        var removed = KeyList()

        init(added: KeyList = KeyList(), removed: KeyList = KeyList()) {
            (self.added, self.removed) = (added, removed)
        }

        var isEmpty: Bool { added.isEmpty && removed.isEmpty }
    }

    /// The current members, if they are loaded and not shared with a batch.
    @exclusivity(unchecked) private var own = KeyList()
    /// The members as part of the batch that they were loaded with, until a list of them is needed: most relationships
    /// are read once and never changed.
    @exclusivity(unchecked) private var shared: MemberBatch.Run?
    @exclusivity(unchecked) private(set) var isLoaded: Bool
    /// The changes; nil if there are none, and for a relationship whose members are all new.
    @exclusivity(unchecked) private var changes: Changes?
    /// Whether the relationship is changed and the store has no members, so that all members are added: the usual case of
    /// an inserted object. Then no changes are listed.
    @exclusivity(unchecked) private(set) var wasEmpty = false
    /// The members in the store, if their order cannot be told from the current members and the changes.
    @exclusivity(unchecked) private var stored: ContiguousArray<ObjectKey>?
    /// Whether members have moved, so that not only the added ones need a position.
    @exclusivity(unchecked) private(set) var isReordered = false
    /// Positions in an ordered relationship with a join table, parallel to the committed members.
    @exclusivity(unchecked) private(set) var positions: ContiguousArray<Int64>?
    /// The members' new positions, parallel to `members`, assigned by the plan of a save.
    @exclusivity(unchecked) var newPositions: ContiguousArray<Int64>?
    /// What has changed since the event began, if a step of undo is recorded, or the object had changed relationships then.
    @exclusivity(unchecked) private var edits: MemberEdits?
    /// Grows with each change of the current members, so that collections made of them can be reused. Other keys of the same objects
    /// do not change it.
    @exclusivity(unchecked) private(set) var revision = 0

    init(isLoaded: Bool) {
        self.isLoaded = isLoaded
    }

    /// The state of an inserted object: all its members are new.
    init(ofNewObject members: KeyList) {
        isLoaded = true
        own.replaceAll(with: members)
        wasEmpty = true
    }

    // MARK: - Reading

    /// The current members, if they are loaded.
    var members: KeyList {
        takeShared()
        own.closeGaps()
        return own
    }

    /// The members in the store, if they are loaded; nil when unchanged. Cost: a step for each member, unless members have
    /// moved.
    var committed: ContiguousArray<ObjectKey>? {
        guard isLoaded, isChanged else { return nil }
        if wasEmpty { return [] }
        if let stored { return stored }
        guard let changes else { return members.keys }
        return ContiguousArray(members.keys.filter { !changes.added.contains($0) }) + changes.removed.keys
    }

    /// Members added and removed while they are not loaded.
    var added: KeyList { isLoaded ? KeyList() : changes?.added ?? KeyList() }
    var removed: KeyList { isLoaded ? KeyList() : changes?.removed ?? KeyList() }

    package var isChanged: Bool { wasEmpty || stored != nil || changes?.isEmpty == false }

    /// The members as part of a batch, until a list of them is needed.
    var run: MemberBatch.Run? { shared }

    var count: Int { shared?.count ?? own.count }

    /// Whether the members are loaded and there are none.
    var hasNoMembers: Bool { isLoaded && shared == nil && own.isEmpty }

    func contains(_ key: ObjectKey) -> Bool {
        takeShared()
        return own.contains(key)
    }

    /// The index of a loaded member in `members`.
    func index(of key: ObjectKey) -> Int? {
        takeShared()
        return own.position(of: key)
    }

    /// The new position of a member, if assigned by the plan of a save.
    func newPosition(of key: ObjectKey) -> Int64? {
        guard let newPositions, let index = index(of: key), index < newPositions.count else { return nil }
        return newPositions[index]
    }

    /// The unsaved additions and removals. Cost: a step for each of them.
    func differences() -> (added: ContiguousArray<ObjectKey>, removed: ContiguousArray<ObjectKey>) {
        if wasEmpty, isLoaded { return (members.keys, []) }
        return (changes?.added.keys ?? [], changes?.removed.keys ?? [])
    }

    /// Whether a member is an unsaved addition, and whether a former member is an unsaved removal.
    func isAdded(_ key: ObjectKey) -> Bool { wasEmpty ? contains(key) : changes?.added.contains(key) == true }
    func isRemoved(_ key: ObjectKey) -> Bool { changes?.removed.contains(key) == true }

    // MARK: - Loading

    /// Sets the members that a batch has loaded.
    func load(_ run: MemberBatch.Run) {
        guard changes?.isEmpty != false else { return load(run.keys, positions: run.positions) }
        shared = run
        positions = run.positions
        isLoaded = true
        revision += 1
    }

    /// Sets the members in the store, and applies the changes made before.
    func load(_ stored: ContiguousArray<ObjectKey>, positions: ContiguousArray<Int64>? = nil) {
        self.positions = positions
        own.replaceAll(with: KeyList(stored))
        isLoaded = true
        revision += 1
        guard let before = changes, !before.isEmpty else { return }
        changes = nil
        // These changes are noted already.
        let noted = edits
        edits = nil
        for key in before.removed.keys { remove(key, keepsOrder: true) }
        for key in before.added.keys { add(key) }
        edits = noted
    }

    /// Copies the members from the batch into a list.
    @inline(__always)
    private func takeShared() {
        guard let run = shared else { return }
        own.replaceAll(with: KeyList(run.keys))
        shared = nil
    }

    // MARK: - Changing

    /// Adds a member at a position, or at the end. Returns whether it was added.
    @discardableResult
    func add(_ key: ObjectKey, at position: Int? = nil) -> Bool {
        takeShared()
        guard isLoaded else {
            let changes = listedChanges()
            if !changes.removed.remove(key, keepsOrder: true) {
                guard !changes.added.contains(key) else { return false }
                changes.added.append(key)
            }
            edits?.noteAddition(of: key)
            return true
        }
        guard !own.contains(key) else { return false }
        revision += 1
        edits?.noteAddition(of: key)
        if own.isEmpty, !isChanged { wasEmpty = true }
        if !wasEmpty {
            let changes = listedChanges()
            let isBack = changes.removed.contains(key)
            if isBack {
                // A member that returns may have another place than before.
                keepStored()
                isReordered = true
                changes.removed.remove(key, keepsOrder: true)
            } else {
                changes.added.append(key)
            }
        }
        if let position, position < own.count {
            own.insert(key, at: position)
        } else {
            own.append(key)
        }
        return true
    }

    /// Removes a member. Returns whether it may have been one.
    @discardableResult
    func remove(_ key: ObjectKey, keepsOrder: Bool) -> Bool {
        takeShared()
        guard isLoaded else {
            let changes = listedChanges()
            if !changes.added.remove(key, keepsOrder: true) {
                guard !changes.removed.contains(key) else { return false }
                changes.removed.append(key)
            }
            edits?.noteRemoval(of: key)
            return true
        }
        guard own.contains(key) else { return false }
        revision += 1
        if keepsOrder { edits?.noteDeparture(of: key, from: &own) }
        edits?.noteRemoval(of: key)
        if !wasEmpty {
            let changes = listedChanges()
            if !changes.added.remove(key, keepsOrder: true) {
                // The place of a member that is removed cannot be told afterwards.
                if keepsOrder { keepStored() }
                changes.removed.append(key)
            }
        }
        return own.remove(key, keepsOrder: keepsOrder)
    }

    /// Sorts the members by an order; members that are not in it follow. Returns whether the order has changed.
    func takeOrder(_ order: ContiguousArray<ObjectKey>) -> Bool {
        takeShared()
        var ordered = KeyList(order.filter { own.contains($0) })
        for key in members.keys where !ordered.contains(key) { ordered.append(key) }
        guard ordered.keys != own.keys else { return false }
        replaceMembers(ordered)
        return true
    }

    /// Moves ordered members to positions, which ascend. Returns whether there is one of them.
    func takePlaces(_ places: [MemberEdits.Place]) -> Bool {
        let present = places.filter { contains($0.key) }
        for place in present { remove(place.key, keepsOrder: true) }
        for place in present { add(place.key, at: place.position) }
        return !present.isEmpty
    }

    /// Unloads the members; unsaved changes stay pending.
    func unload() {
        guard isLoaded else { return }
        let (added, removed) = differences()
        isLoaded = false
        own.replaceAll(with: KeyList())
        shared = nil
        stored = nil
        (wasEmpty, isReordered) = (false, false)
        changes = Changes(added: KeyList(added), removed: KeyList(removed))
        revision += 1
    }

    /// Reads ordered members again, in the places that unsaved changes have given them.
    func reload(_ load: () -> Void) {
        let added = differences().added
        let isPlaced = isReordered || !members.keys.suffix(added.count).elementsEqual(added)
        let order = members.keys
        unload()
        load()
        guard isPlaced, isLoaded else { return }
        // This order is noted already.
        let noted = edits
        edits = nil
        _ = takeOrder(order)
        edits = noted
    }

    /// Replaces the loaded members by others, or changes their order.
    func replaceMembers(_ members: KeyList) {
        takeShared()
        revision += 1
        noteReplacement(by: members)
        if own.isEmpty, !isChanged { wasEmpty = true }
        if wasEmpty { return own.replaceAll(with: members) }
        keepStored()
        var (before, now) = (KeyList(stored ?? []), members)
        changes = Changes(
            added: KeyList(ContiguousArray(members.keys.filter { !before.contains($0) })),
            removed: KeyList(ContiguousArray(before.keys.filter { !now.contains($0) })))
        isReordered = true
        own.replaceAll(with: members)
    }

    private func noteReplacement(by members: KeyList) {
        guard edits != nil else { return }
        edits?.noteOrder(of: own.keys)
        var now = members
        for key in own.keys where !now.contains(key) { edits?.noteRemoval(of: key) }
        for key in members.keys where !own.contains(key) { edits?.noteAddition(of: key) }
    }

    /// Removes deleted members from all lists. Cost: a step for each of them, and one for each member if an order changes.
    func removeFromAll(_ keys: Set<ObjectKey>) {
        takeShared()
        revision += 1
        for key in keys {
            if isLoaded, own.remove(key, keepsOrder: true) { edits?.noteRemoval(of: key) }
            changes?.added.remove(key, keepsOrder: true)
            changes?.removed.remove(key, keepsOrder: true)
        }
        stored?.removeAll(where: keys.contains)
    }

    /// Drops the changes when the members are equal to those in the store again.
    func removeEmptyChanges(isOrdered: Bool) {
        guard isLoaded, isChanged else { return }
        guard wasEmpty ? own.isEmpty : changes?.isEmpty != false else { return }
        if isOrdered, let stored, stored != members.keys { return }
        forgetChanges()
    }

    /// Replaces temporary keys by permanent ones. Cost: a step for each changed member.
    func resolve(by keys: PermanentKeys) {
        edits?.resolve(by: keys)
        // Members in the store have permanent keys.
        if wasEmpty {
            if own.hasTemporaryKeys { own.replace(keys.permanent) }
        } else if let changes {
            for key in changes.added.keys where key.isTemporary {
                let permanent = keys.permanent(key)
                own.replace(key, by: permanent)
                changes.added.replace(key, by: permanent)
            }
            if changes.removed.hasTemporaryKeys { changes.removed.replace(keys.permanent) }
        }
    }

    /// Replaces keys in the current members and the changes. Cost: a step for each member of a changed relationship.
    func replaceChanged(by keys: [ObjectKey: ObjectKey]) {
        guard isChanged else { return }
        takeShared()
        own.replace { keys[$0] ?? $0 }
        changes?.added.replace { keys[$0] ?? $0 }
        changes?.removed.replace { keys[$0] ?? $0 }
        edits?.replace { keys[$0] ?? $0 }
        revision += 1
    }

    /// Marks the current members as those in the store.
    func commit() {
        forgetChanges()
        edits = nil
        if let assigned = newPositions { positions = assigned }
        newPositions = nil
    }

    private func forgetChanges() {
        changes = nil
        stored = nil
        (wasEmpty, isReordered) = (false, false)
    }

    // MARK: - Restoring

    /// A moment to which a relationship can return, until its marks are removed. It costs the same in a relationship of any size,
    /// because the members are not copied: changes after it are listed.
    struct Mark {
        fileprivate let own: Int
        fileprivate let shared: MemberBatch.Run?
        fileprivate let isLoaded: Bool
        fileprivate let changes: Changes?
        fileprivate let added: Int
        fileprivate let removed: Int
        fileprivate let wasEmpty: Bool
        fileprivate let stored: ContiguousArray<ObjectKey>?
        fileprivate let isReordered: Bool
        fileprivate let positions: ContiguousArray<Int64>?
        fileprivate let newPositions: ContiguousArray<Int64>?
        fileprivate let edits: MemberEdits?
    }

    func mark() -> Mark {
        Mark(
            own: own.mark(), shared: shared, isLoaded: isLoaded, changes: changes, added: changes?.added.mark() ?? 0,
            removed: changes?.removed.mark() ?? 0, wasEmpty: wasEmpty, stored: stored, isReordered: isReordered,
            positions: positions, newPositions: newPositions, edits: edits)
    }

    /// Returns to the state that the relationship had at a mark, which stays. Cost: a step for each change.
    func restore(to mark: Mark) {
        own.restore(to: mark.own)
        mark.changes?.added.restore(to: mark.added)
        mark.changes?.removed.restore(to: mark.removed)
        (changes, shared, isLoaded) = (mark.changes, mark.shared, mark.isLoaded)
        (wasEmpty, stored, isReordered) = (mark.wasEmpty, mark.stored, mark.isReordered)
        (positions, newPositions, edits) = (mark.positions, mark.newPositions, mark.edits)
        revision += 1
    }

    /// Ends the listing of changes.
    func removeMarks() {
        own.removeMarks()
        changes?.added.removeMarks()
        changes?.removed.removeMarks()
    }

    // MARK: - Events

    /// Begins to note what changes in an event.
    func noteEdits() { edits = MemberEdits() }

    /// What has changed since `noteEdits`, which is noted no longer; nil if nothing was noted.
    func takeEdits() -> MemberEdits? {
        defer { edits = nil }
        return edits
    }

    /// Whether the relationship has changed since the event began. Where nothing was noted then, all changes are of the event.
    var isChangedInEvent: Bool { edits.map { !$0.isEmpty } ?? isChanged }

    /// The loaded members before the event.
    var membersBeforeEvent: ContiguousArray<ObjectKey> {
        guard var edits else { return committed ?? members.keys }
        return edits.allFormer(members.keys)
    }

    /// Copies the members in the store, before their order is lost.
    private func keepStored() {
        if stored == nil { stored = committed ?? members.keys }
    }

    private func listedChanges() -> Changes {
        if let changes { return changes }
        let changes = Changes()
        self.changes = changes
        return changes
    }
}

extension KeyList {
    fileprivate var hasTemporaryKeys: Bool { keys.contains(where: \.isTemporary) }
}
