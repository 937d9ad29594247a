/// What a merge reads, before anything is changed: an error leaves every object as it was.
struct ChangeMergeReads {
    private let context: NSManagedObjectContext
    /// The objects whose rows have just been read.
    private let keys: Set<ObjectKey>
    private var readKeys: Set<ObjectKey>
    private var neededKeys: Set<ObjectKey> = []
    /// Members that the changes need, for relationships that are not loaded.
    private var members: [RelationshipEdits.Side: Members] = [:]

    private enum Members {
        case run(MemberBatch.Run)
        case keys(ContiguousArray<ObjectKey>)

        var keys: ContiguousArray<ObjectKey> {
            switch self {
            case .run(let run): run.keys
            case .keys(let keys): keys
            }
        }
    }

    init(_ context: NSManagedObjectContext, keys: Set<ObjectKey>) {
        self.context = context
        self.keys = keys
        readKeys = keys
    }

    /// Gives a relationship the members that were read for it.
    func load(_ object: NSManagedObject, at index: Int) -> ToManyState {
        let state = object.ensureToManyState(at: index)
        guard !state.isLoaded, let read = members[RelationshipEdits.Side(key: object.key, field: index)] else {
            return object.loadedToManyState(at: index)
        }
        switch read {
        case .run(let run): state.load(run)
        case .keys(let keys): state.load(keys)
        }
        return state
    }

    // MARK: - Rows

    /// Notes an object whose row is needed, unless its unsaved state is.
    mutating func need(_ key: ObjectKey?) {
        if let key, !readKeys.contains(key), !isKept(key) { neededKeys.insert(key) }
    }

    /// Whether an object keeps its unsaved values, which a save checks.
    private func isKept(_ key: ObjectKey) -> Bool {
        guard let object = context.registeredObject(for: key) else { return false }
        if !object.flags.isDisjoint(with: [.inserted, .deleted]) { return true }
        object.noticeInPlaceChanges()
        return !object.persistentChangedSlots().isEmpty || object.hasChangedToMany(persistent: true)
    }

    /// Reads the rows that are noted: a statement for each entity hierarchy.
    mutating func read() throws {
        guard !neededKeys.isEmpty else { return }
        try context.readAgain(neededKeys)
        readKeys.formUnion(neededKeys)
        neededKeys = []
    }

    /// The destination of a reference after the merge has read an object again.
    func destination(of key: ObjectKey, slot: Int) throws -> ObjectKey? {
        if !keys.contains(key), isKept(key) {
            return context.registeredObject(for: key).flatMap { object in
                object.values == nil ? nil : object.slotValue(slot).referenceKey
            }
        }
        if let parent = context.parentContext {
            return try context.query(parent) { parent in
                let object = parent.object(for: key)
                return try parent.realise(object) ? object.slotValue(slot).referenceKey : nil
            }
        }
        return context.prefetchedRows.row(for: key).flatMap { $0.value(row: $1, slot: slot).referenceKey }
    }

    // MARK: - Members

    /// Reads the members of a relationship, unless they are loaded and stay so.
    @discardableResult
    mutating func readMembers(of key: ObjectKey, at index: Int) throws -> ContiguousArray<ObjectKey> {
        let side = RelationshipEdits.Side(key: key, field: index)
        if let read = members[side] { return read.keys }
        let object = context.registeredObject(for: key)
        if !keys.contains(key), isKept(key), let state = object?.toManyState(at: index), state.isLoaded {
            return state.members.keys
        }
        guard context.layout(of: key).toMany[index].isPersistent else { return [] }
        let read: Members
        if let parent = context.parentContext {
            read = .keys(try context.query(parent) { try $0.readMemberKeys(of: $0.object(for: key), at: index) })
        } else {
            read = try context.readMembers(of: key, at: index).map(Members.run) ?? .keys([])
        }
        members[side] = read
        return read.keys
    }

    /// Reads the members of an ordered relationship, whose order a change of members needs.
    mutating func readOrder(of key: ObjectKey?, at end: RelationshipLinks.End) throws {
        guard let key, case .toMany(let index) = end, context.layout(of: key).toMany[index].isOrdered else { return }
        try readMembers(of: key, at: index)
    }

    // MARK: - Deletions

    /// Reads what the delete rules of deleted objects need, and those of the objects that they cascade to.
    mutating func readDeletions(of deleted: [ObjectKey]) throws {
        var seen = Set(deleted)
        var next = deleted
        var isFirst = true
        while !next.isEmpty {
            var cascaded: [ObjectKey] = []
            for key in next {
                for (rule, end, other) in try destinations(of: key, isFirst: isFirst) {
                    need(other)
                    try readOrder(of: other, at: end)
                    if rule == .cascadeDeleteRule, seen.insert(other).inserted { cascaded.append(other) }
                }
            }
            try read()
            next = cascaded
            isFirst = false
        }
    }

    private typealias Destination = (rule: NSDeleteRule, end: RelationshipLinks.End, key: ObjectKey)

    /// - Parameter isFirst: Whether the object is deleted already, so that only the rules that change others are applied again.
    private mutating func destinations(of key: ObjectKey, isFirst: Bool) throws -> [Destination] {
        let layout = context.layout(of: key)
        var found: [Destination] = []
        for (index, field) in layout.toMany.enumerated() {
            let rule = field.relationship.deleteRule
            guard !isFirst || rule == .nullifyDeleteRule || rule == .cascadeDeleteRule else { continue }
            let end = layout.links.toMany[index].inverse
            found += try readMembers(of: key, at: index).map { (rule, end, $0) }
        }
        for slot in layout.referenceSlots {
            let relationship = layout.slots[slot].property as? NSRelationshipDescription
            let rule = layout.slots[slot].isHidden ? nil : relationship?.deleteRule
            let registered = context.registeredObject(for: key)
            let destination =
                isFirst && !keys.contains(key)
                ? registered?.committedValue(slot).referenceKey : try destination(of: key, slot: slot)
            if let destination {
                found.append((rule ?? .nullifyDeleteRule, layout.links.slots[slot].inverse, destination))
            }
        }
        return found
    }
}
