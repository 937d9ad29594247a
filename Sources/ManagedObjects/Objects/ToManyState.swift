import Foundation

/// One to-many relationship of one object: its members, as loaded and as changed.
///
/// A relationship that nobody has looked at can still gain and lose members (the other side of an edit): such changes
/// are kept apart until it is loaded, so that setting a to-one never loads the inverse.
///
/// Without dynamic checks of exclusive access, because every member of every relationship passes here, and an object
/// belongs to one queue.
final class ToManyState {
    /// The members now, where they are loaded.
    @exclusivity(unchecked) var members = KeyList()
    /// The members as the store has them; nil when unchanged.
    @exclusivity(unchecked) var committed: ContiguousArray<ObjectKey>?
    @exclusivity(unchecked) var isLoaded: Bool
    /// What has changed while not loaded.
    @exclusivity(unchecked) var added = KeyList()
    @exclusivity(unchecked) var removed = KeyList()
    /// Positions in an ordered relationship kept in pairs, parallel to the committed members.
    @exclusivity(unchecked) var positions: ContiguousArray<Int64> = []

    init(isLoaded: Bool) {
        self.isLoaded = isLoaded
    }

    /// The members' new positions, parallel to `members`, as the plan of a save has assigned them.
    @exclusivity(unchecked) var newPositions: ContiguousArray<Int64>?

    /// The new position of a member, where the plan of a save has assigned one.
    func newPosition(of key: ObjectKey) -> Int64? {
        guard let newPositions, let index = members.position(of: key), index < newPositions.count else { return nil }
        return newPositions[index]
    }

    var isChanged: Bool { committed != nil || !added.isEmpty || !removed.isEmpty }

    /// Takes the members that the store has, and applies what has changed meanwhile.
    func load(_ stored: ContiguousArray<ObjectKey>, positions: ContiguousArray<Int64>) {
        self.positions = positions
        members = KeyList(stored)
        isLoaded = true
        guard !added.isEmpty || !removed.isEmpty else { return }
        committed = stored
        for key in removed.keys { members.remove(key, keepsOrder: true) }
        for key in added.keys where !members.contains(key) { members.append(key) }
        added.removeAll()
        removed.removeAll()
    }

    /// Adds a member at a position, or at the end; says whether it was none before.
    @discardableResult
    func add(_ key: ObjectKey, at position: Int? = nil) -> Bool {
        guard isLoaded else {
            if removed.remove(key, keepsOrder: true) { return true }
            guard !added.contains(key) else { return false }
            added.append(key)
            return true
        }
        guard !members.contains(key) else { return false }
        remember()
        if let position { members.insert(key, at: position) } else { members.append(key) }
        return true
    }

    /// Removes a member; says whether it may have been one.
    @discardableResult
    func remove(_ key: ObjectKey, keepsOrder: Bool) -> Bool {
        guard isLoaded else {
            if added.remove(key, keepsOrder: true) { return true }
            guard !removed.contains(key) else { return false }
            removed.append(key)
            return true
        }
        guard members.contains(key) else { return false }
        remember()
        return members.remove(key, keepsOrder: keepsOrder)
    }

    /// Puts members in an order; those that are not in it follow. Says whether that is another one.
    func takeOrder(_ order: ContiguousArray<ObjectKey>) -> Bool {
        var ordered = KeyList(order.filter { members.contains($0) })
        for key in members.keys where !ordered.contains(key) { ordered.append(key) }
        guard ordered.keys != members.keys else { return false }
        replaceMembers(ordered.keys)
        return true
    }

    /// Lets go of the members as loaded, but not of what is unsaved.
    func unload() {
        guard isLoaded else { return }
        let (added, removed) = differences()
        isLoaded = false
        members = KeyList()
        committed = nil
        self.added = KeyList(added)
        self.removed = KeyList(removed)
    }

    /// Takes a member that is gone out of what is unsaved.
    func forget(_ key: ObjectKey) {
        if isLoaded { members.remove(key, keepsOrder: true) }
        committed?.removeAll { $0 == key }
        added.remove(key, keepsOrder: true)
        removed.remove(key, keepsOrder: true)
    }

    /// Puts the loaded members in another order, or others in their place.
    func replaceMembers(_ keys: ContiguousArray<ObjectKey>) {
        remember()
        members = KeyList(keys)
    }

    /// Members gained and lost since the store was read.
    func differences() -> (added: ContiguousArray<ObjectKey>, removed: ContiguousArray<ObjectKey>) {
        guard isLoaded else { return (added.keys, removed.keys) }
        guard let committed else { return ([], []) }
        if committed.isEmpty { return (members.keys, []) }
        var before = KeyList(committed)
        return (
            ContiguousArray(members.keys.filter { !before.contains($0) }),
            ContiguousArray(committed.filter { !members.contains($0) })
        )
    }

    /// The members as they are now are what the store has.
    func commit() {
        committed = nil
        if let assigned = newPositions { positions = assigned }
        newPositions = nil
        guard !isLoaded else { return }
        added.removeAll()
        removed.removeAll()
    }

    func copy() -> ToManyState {
        let copy = ToManyState(isLoaded: isLoaded)
        copy.members = members
        copy.committed = committed
        copy.added = added
        copy.removed = removed
        copy.positions = positions
        return copy
    }

    private func remember() {
        if committed == nil { committed = members.keys }
    }
}
