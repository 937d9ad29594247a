/// Unsaved changes of relationships, separate from the objects that have them, so that they can be withdrawn and made
/// again when the rows have changed in the store.
///
/// Where one side has a reference to the other, the reference represents the whole change, and members follow from it.
/// Only relationships with a join table are represented by members.
struct RelationshipEdits {
    /// A reference that was set: a to-one relationship, or the hidden owner of a member.
    struct Reference {
        let object: NSManagedObject
        let slot: Int
        let before: ObjectKey?
        var now: ObjectKey?
    }

    /// A row of a join table that was added or removed.
    struct Pair {
        let object: NSManagedObject
        let index: Int
        let member: ObjectKey
        let isAdded: Bool
    }

    /// The new order of an object's members.
    struct Order {
        let object: NSManagedObject
        let index: Int
        let members: ContiguousArray<ObjectKey>
    }

    /// One end of a relationship of one object.
    struct Side: Hashable {
        let key: ObjectKey
        /// A slot, or the index of a to-many relationship.
        let field: Int
    }

    var references: [Reference] = []
    /// References that precede the others, the last one first.
    private var preceding: [Reference] = []
    var pairs: [Pair] = []
    /// Deletions of some of the objects, or that affect them.
    private(set) var deletions: [NSManagedObject] = []
    private(set) var orders: [Order] = []
    private let context: NSManagedObjectContext
    private var seen: Set<Side> = []
    private var ordered: Set<Side> = []

    /// The changes that concern some objects: their own, and those of objects that refer to them.
    ///
    /// Cost: a step for every changed object.
    init(concerning keys: Set<ObjectKey>, in context: NSManagedObjectContext) {
        self.context = context
        var seenPairs: Set<[Side]> = []
        for object in context.changed where object.hasChanges {
            if object.flags.contains(.deleted) {
                if Self.lets(object, goOf: keys) { deletions.append(object) }
                continue
            }
            let isOwn = keys.contains(object.key)
            for slot in object.layout.referenceSlots {
                guard let edit = Self.reference(of: object, slot: slot) else { continue }
                if isOwn || edit.before.map(keys.contains) == true || edit.now.map(keys.contains) == true {
                    add(edit)
                }
            }
            for (index, state) in object.toMany.enumerated() {
                guard let state, state.isChanged else { continue }
                if isOwn { keepOrder(of: object, at: index) }
                let end = object.layout.links.toMany[index].inverse
                if case .slot = end { continue }
                let (added, removed) = state.differences()
                for (members, isAdded) in [(added, true), (removed, false)] {
                    for member in members where isOwn || keys.contains(member) {
                        let side = Side(key: object.key, field: index)
                        let other = if case .toMany(let field) = end { field } else { -1 }
                        guard seenPairs.insert([side, Side(key: member, field: other)]).inserted else { continue }
                        seenPairs.insert([Side(key: member, field: other), side])
                        pairs.append(Pair(object: object, index: index, member: member, isAdded: isAdded))
                    }
                }
            }
        }
    }

    private static func lets(_ object: NSManagedObject, goOf keys: Set<ObjectKey>) -> Bool {
        guard !object.flags.contains(.inserted) else { return false }
        return keys.contains(object.key)
            || object.layout.referenceSlots.contains { slot in
                object.committedValue(slot).referenceKey.map(keys.contains) == true
            }
            || object.toMany.contains { $0?.differences().removed.contains(where: keys.contains) == true }
    }

    /// An object's unsaved change of a reference; nil if it is unchanged.
    private static func reference(of object: NSManagedObject, slot: Int) -> Reference? {
        guard object.values != nil else { return nil }
        let (before, now) = (object.committedValue(slot).referenceKey, object.slotValue(slot).referenceKey)
        return before == now ? nil : Reference(object: object, slot: slot, before: before, now: now)
    }

    /// Adds a change and those that result from it: in one-to-one relationships both ends are references, and an object
    /// that loses its destination changes too.
    private mutating func add(_ edit: Reference) {
        var waiting = [edit]
        while let edit = waiting.popLast() {
            guard seen.insert(Side(key: edit.object.key, field: edit.slot)).inserted else { continue }
            references.append(edit)
            guard case .slot(let slot) = edit.object.layout.links.slots[edit.slot].inverse else { continue }
            for case let key? in [edit.before, edit.now] {
                guard let partner = context.registeredObject(for: key), !partner.flags.contains(.deleted),
                    let change = Self.reference(of: partner, slot: slot)
                else { continue }
                waiting.append(change)
            }
        }
    }

    /// Adds the reference that an object gets although the store has another.
    mutating func force(_ object: NSManagedObject, slot: Int, from before: ObjectKey?, to now: ObjectKey?) {
        guard before != now, seen.insert(Side(key: object.key, field: slot)).inserted else { return }
        // At the beginning, so that a requested change takes precedence if both concern the same object.
        preceding.append(Reference(object: object, slot: slot, before: before, now: now))
    }

    /// Adds the reference of an object whose deletion is reverted: others refer to it again.
    mutating func restore(_ object: NSManagedObject, slot: Int, to key: ObjectKey?) {
        guard let key else { return }
        preceding.append(Reference(object: object, slot: slot, before: key, now: key))
    }

    /// Puts the forced and the restored references before the others.
    mutating func insertPreceding() {
        references = preceding.reversed() + references
        preceding = []
    }

    mutating func dropOrders(of keys: Set<ObjectKey>) {
        orders.removeAll { keys.contains($0.object.key) }
    }

    private mutating func keepOrder(of object: NSManagedObject, at index: Int) {
        guard object.layout.toMany[index].isOrdered, let state = object.toManyState(at: index), state.isLoaded,
            ordered.insert(Side(key: object.key, field: index)).inserted
        else { return }
        orders.append(Order(object: object, index: index, members: state.members.keys))
    }

    // MARK: - Withdrawing

    /// Withdraws the changes on both sides, except in objects whose rows are reloaded after this.
    mutating func withdraw(butOf keys: Set<ObjectKey>) {
        for edit in references {
            let object = edit.object
            if !keys.contains(object.key) {
                context.restorePoint?.keep(object)
                object.setPrimitiveSlot(edit.slot, to: edit.before.map { .reference($0) } ?? .null)
            }
            // References on the other side are separate changes.
            let end = object.layout.links.slots[edit.slot].inverse
            if let now = edit.now { withdraw(object.key, from: now, at: end, true, butOf: keys) }
            if let before = edit.before { withdraw(object.key, from: before, at: end, false, butOf: keys) }
        }
        for edit in pairs {
            let link = edit.object.layout.links.toMany[edit.index]
            withdraw(edit.member, from: edit.object.key, at: link.own, edit.isAdded, butOf: keys)
            withdraw(edit.object.key, from: edit.member, at: link.inverse, edit.isAdded, butOf: keys)
        }
    }

    private mutating func withdraw(
        _ member: ObjectKey, from key: ObjectKey, at end: RelationshipLinks.End, _ wasAdded: Bool,
        butOf keys: Set<ObjectKey>
    ) {
        guard !keys.contains(key), let owner = context.registeredObject(for: key), !owner.flags.contains(.deleted),
            case .toMany(let index) = end, let state = owner.toManyState(at: index), state.isChanged
        else { return }
        context.restorePoint?.keep(owner)
        keepOrder(of: owner, at: index)
        if wasAdded, state.isAdded(member) {
            state.remove(member, keepsOrder: true)
        } else if !wasAdded, state.isRemoved(member) {
            state.add(member)
        }
    }
}

extension Value {
    /// The key that a reference names; nil for every other value.
    package var referenceKey: ObjectKey? {
        if case .reference(let key) = self { key } else { nil }
    }
}
