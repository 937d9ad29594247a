import PredicateLanguage

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
        fileprivate var byValue: [Int: [PredicateValue: ContiguousArray<Int32>]] = [:]
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
        object.state.remove(.indexed)
        outdated.append(object)
    }

    mutating func removeAll() {
        guard count > 0 else { return }
        for group in groups.values where !group.byValue.isEmpty {
            for object in group.objects { object.state.remove(.indexed) }
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
        for object in outdated where !object.state.contains(.indexed) {
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
        object.state.insert(.indexed)
        for slot in byValue.keys {
            guard let value = object.comparableValue(slot) else { continue }
            if byValue[slot]?[value, default: []].last == position { continue }
            byValue[slot]?[value, default: []].append(position)
        }
    }

    /// The smallest list of positions among those that the required values select, each position once, ascending; nil if no
    /// attribute can be indexed.
    fileprivate mutating func positions(for required: [RequiredValue]) -> [Int32]? {
        var smallest: [Int32]?
        for part in required {
            guard let layout = objects.first?.layout, let slot = layout.slot(named: part.key),
                layout.kinds[slot].isIndexable
            else { continue }
            index(slot)
            var found: [Int32] = []
            for value in part.values { found += byValue[slot]?[value] ?? [] }
            if smallest == nil || found.count < smallest?.count ?? 0 { smallest = found }
        }
        return smallest.map { $0.count > 1 ? Set($0).sorted() : $0 }
    }

    private mutating func index(_ slot: Int) {
        guard byValue[slot] == nil else { return }
        if byValue.isEmpty {
            for (position, object) in objects.enumerated() {
                positions[ObjectIdentifier(object)] = Int32(truncatingIfNeeded: position)
                object.state.insert(.indexed)
            }
        }
        var index: [PredicateValue: ContiguousArray<Int32>] = [:]
        for (position, object) in objects.enumerated() {
            guard let value = object.comparableValue(slot) else { continue }
            index[value, default: []].append(Int32(truncatingIfNeeded: position))
        }
        byValue[slot] = index
    }
}
