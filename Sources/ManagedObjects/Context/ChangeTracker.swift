import PredicateLanguage

/// The objects of a context that have unsaved changes: their list, their numbers, and what the current event has changed.
///
/// What has changed of an object is in its own state. The tracker lists the objects and counts them: each transition that may
/// change what a save does with an object is made by `NSManagedObjectContext.change(_:by:)`.
struct ChangeTracker {
    /// The listed objects, in the order in which they were first changed, and those that were removed since. Objects that no
    /// longer have changes stay until the next save.
    private(set) var objects: ContiguousArray<NSManagedObject> = []
    /// The number of objects that are no longer listed. They are removed together, because each removal takes a step for
    /// each object.
    private var unlistedCount = 0
    /// The number of objects that a save inserts, updates and deletes.
    private(set) var counts = Counts()
    /// The listed objects by entity and by compared values, for fetches.
    var index = PendingIndex()
    /// Objects changed since pending changes were processed, and those that have left the event since, whose state says so.
    var inEvent: ContiguousArray<NSManagedObject> = []
    /// Whether objects of `inEvent` have left the event. They are removed together, because each removal takes a step for each object.
    var leavesEvent = false
    /// Deleted objects whose delete rules are still to be applied.
    var deletionsInEvent: ContiguousArray<NSManagedObject> = []

    struct Counts: Equatable {
        var inserted = 0
        var updated = 0
        var deleted = 0

        var isZero: Bool { self == Counts() }
        var total: Int { inserted + updated + deleted }

        @inline(__always)
        mutating func add(_ number: Int, to change: ObjectFlags.Change) {
            switch change {
            case .none: break
            case .insertion: inserted += number
            case .update: updated += number
            case .deletion: deleted += number
            }
        }
    }

    // MARK: - The numbers

    /// Counts a transition of an object.
    @inline(__always)
    mutating func count(from before: ObjectFlags.Change, to after: ObjectFlags.Change) {
        guard before != after else { return }
        counts.add(-1, to: before)
        counts.add(1, to: after)
    }

    // MARK: - The list

    /// Lists an object that is not listed.
    @inline(__always)
    mutating func list(_ object: NSManagedObject) {
        object.state.mark(.listed)
        if object.flags.contains(.unlisted) {
            object.state.unmark(.unlisted)
            unlistedCount -= 1
        } else {
            objects.append(object)
        }
    }

    /// Lists an object whose state says that it is listed.
    mutating func listAgain(_ object: NSManagedObject) { objects.append(object) }

    mutating func unlist(_ object: NSManagedObject) {
        object.state.unmark(.listed)
        object.state.mark(.unlisted)
        unlistedCount += 1
    }

    /// Removes the objects that are no longer listed. Required before an object is listed again whose state was replaced.
    @inline(__always)
    mutating func removeUnlisted() {
        if unlistedCount > 0 { remove { !$0.flags.contains(.listed) } }
    }

    /// Ends the event: the objects that it has changed. One that has left the event and has changed again is there twice.
    mutating func takeEvent() -> ContiguousArray<NSManagedObject> {
        defer { (inEvent, leavesEvent) = ([], false) }
        return leavesEvent ? inEvent.filter { $0.flags.contains(.changedInEvent) } : inEvent
    }

    /// Removes objects from the list. One step for each object of the list.
    mutating func remove(where isRemoved: (NSManagedObject) -> Bool) {
        objects.removeAll { object in
            let isUnlisted = object.flags.contains(.unlisted)
            if isUnlisted { object.state.unmark(.unlisted) }
            return isUnlisted || isRemoved(object)
        }
        unlistedCount = 0
        index.removeAll()
    }

    /// Forgets all objects and numbers. The states of the objects are unchanged.
    mutating func removeAll() {
        removeUnlisted()
        objects = []
        index.removeAll()
        (inEvent, leavesEvent) = ([], false)
        deletionsInEvent = []
        counts = Counts()
    }

    // MARK: - Returning to an earlier state

    /// What a tracker knows apart from its list, which follows the states of the objects.
    struct Point {
        fileprivate let counts: Counts
        fileprivate let inEvent: ContiguousArray<NSManagedObject>
        fileprivate let deletionsInEvent: ContiguousArray<NSManagedObject>
    }

    var point: Point { Point(counts: counts, inEvent: inEvent, deletionsInEvent: deletionsInEvent) }

    mutating func restore(_ point: Point) {
        (counts, inEvent, deletionsInEvent) = (point.counts, point.inEvent, point.deletionsInEvent)
    }
}

/// The changed objects of a context by their entities, and by the values of attributes that fetches compare.
///
/// A fetch that sees unsaved changes evaluates its predicate on changed objects. Where the predicate requires a value of an
/// attribute, only those are evaluated that have or had it. So finding or inserting n objects in one save takes n steps, not n².
///
/// The index is a superset: an object stays listed at its former values, and the predicate decides. It follows the list of
/// changed objects when it is asked, and is discarded when that list loses objects.
struct PendingIndex {
    /// The changed objects of one entity, without those of entities that inherit from it.
    struct Group {
        fileprivate(set) var objects: ContiguousArray<NSManagedObject> = []
        /// Those that may have rows, which are not what the objects are now.
        fileprivate(set) var stored: ContiguousArray<NSManagedObject> = []
        /// The indexes of the objects in `objects`, by attribute and value.
        fileprivate var byValue: [(slot: Int, positions: [PredicateValue: ContiguousArray<Int32>])] = []
        /// The indexes of the indexed objects.
        fileprivate var positions: [ObjectIdentifier: Int32] = [:]
    }

    /// The number of objects from which on values are indexed: fewer are evaluated one by one.
    static let fewestIndexed = 16

    private var groups: [Int: Group] = [:]
    /// The number of objects of the list that are in groups.
    private var count = 0
    /// Indexed objects that have changed since.
    private var outdated: ContiguousArray<NSManagedObject> = []

    var isEmpty: Bool { groups.isEmpty }

    /// Called before an indexed object changes.
    mutating func noteChange(of object: NSManagedObject) {
        object.state.unmark(.indexed)
        outdated.append(object)
    }

    mutating func removeAll() {
        guard count > 0 else { return }
        for group in groups.values where !group.byValue.isEmpty {
            for object in group.objects { object.state.unmark(.indexed) }
        }
        groups = [:]
        count = 0
        outdated = []
    }

    /// Adds the objects that were listed since.
    ///
    /// - Parameter isNested: Whether the context has a parent, which may have rows for temporary keys.
    mutating func follow(_ changed: ContiguousArray<NSManagedObject>, isNested: Bool) {
        while count < changed.count {
            let object = changed[count]
            count += 1
            groups[object.layout.index, default: Group()].add(
                object, isStored: isNested || !object.key.isTemporary)
        }
        guard !outdated.isEmpty else { return }
        for object in outdated where !object.flags.contains(.indexed) {
            groups[object.layout.index]?.addValues(of: object)
        }
        outdated.removeAll(keepingCapacity: true)
    }

    /// The indexes of entities with changed objects.
    var entities: Dictionary<Int, Group>.Keys { groups.keys }

    func group(_ entity: Int) -> Group? { groups[entity] }

    /// The objects of an entity for which a predicate may hold, and whether a value has selected them.
    mutating func candidates(
        of entity: Int, for required: [RequiredValue]
    ) -> (objects: ContiguousArray<NSManagedObject>, areSelected: Bool) {
        guard let found = groups[entity]?.objects else { return ([], true) }
        guard found.count >= Self.fewestIndexed, !required.isEmpty,
            let positions = groups[entity]?.positions(for: required)
        else { return (found, false) }
        return (ContiguousArray(positions.map { found[Int($0)] }), true)
    }
}

extension PendingIndex.Group {
    fileprivate mutating func add(_ object: NSManagedObject, isStored: Bool) {
        objects.append(object)
        if isStored { stored.append(object) }
        guard !byValue.isEmpty else { return }
        positions[ObjectIdentifier(object)] = Int32(truncatingIfNeeded: objects.count - 1)
        addValues(of: object)
    }

    /// Adds an object at the values that it has now.
    fileprivate mutating func addValues(of object: NSManagedObject) {
        guard let position = positions[ObjectIdentifier(object)] else { return }
        object.state.mark(.indexed)
        // By index: an iterator would hold the dictionaries, which were then copied at each change.
        for index in byValue.indices {
            guard let value = object.comparableValue(byValue[index].slot),
                byValue[index].positions[value]?.last != position
            else { continue }
            byValue[index].positions[value, default: []].append(position)
        }
    }

    /// The smallest list of positions among those that the required values select, each position once, ascending; nil if no
    /// attribute can be indexed.
    fileprivate mutating func positions(for required: [RequiredValue]) -> [Int32]? {
        var smallest: [Int32]?
        for part in required {
            guard let first = objects.first, let slot = first.layout.slot(named: part.key),
                first.layout.kinds[slot].isIndexable, first.implementation(of: slot) == nil
            else { continue }
            let index = index(of: slot)
            var found: [Int32] = []
            for value in part.values { found += byValue[index].positions[value] ?? [] }
            if smallest == nil || found.count < smallest?.count ?? 0 { smallest = found }
        }
        return smallest.map { $0.count > 1 ? Set($0).sorted() : $0 }
    }

    /// The place in `byValue` of a slot, which is indexed if it is not yet.
    private mutating func index(of slot: Int) -> Int {
        if let index = byValue.firstIndex(where: { $0.slot == slot }) { return index }
        if byValue.isEmpty {
            for (position, object) in objects.enumerated() {
                positions[ObjectIdentifier(object)] = Int32(truncatingIfNeeded: position)
                object.state.mark(.indexed)
            }
        }
        var positions: [PredicateValue: ContiguousArray<Int32>] = [:]
        for (position, object) in objects.enumerated() {
            guard let value = object.comparableValue(slot) else { continue }
            positions[value, default: []].append(Int32(truncatingIfNeeded: position))
        }
        byValue.append((slot, positions))
        return byValue.count - 1
    }
}
