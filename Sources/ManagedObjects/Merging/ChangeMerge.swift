// Merging.
//
// Saves of other contexts are merged with unsaved changes in one place, `ChangeMerge`: the changes of relationships
// (`RelationshipEdits`) are withdrawn, rows are reloaded, and the changes that the policy keeps are made again on both
// sides. Merging, refreshing and a save with conflicts all use it. `ChangeMergeReads` reads everything before anything
// is changed. Objects that lose a relationship are reloaded first. If a deletion is reported, but the row has been
// inserted again since, the object is not deleted.

/// Applies unsaved changes to rows that have changed in the store: for a merge, a refresh, and a save with conflicts.
///
/// Relationship changes are withdrawn, rows are read again, and the changes that the policy keeps are made again, on
/// both sides, against the current state of the store. So both sides are consistent whatever the rows contain. Objects
/// that lose a relationship are reloaded first and become changed objects too, so that the next try of the save uses
/// their current version.
struct ChangeMerge {
    private let context: NSManagedObjectContext
    private let policy: NSMergePolicyType
    /// Whether objects without a row are resolved too; else they are left unchanged.
    private let isSettling: Bool
    /// Whether unsaved changes are discarded, also those of objects whose row is gone: a refresh without merging.
    private var isDiscarding: Bool { !isSettling && policy == .rollbackMergePolicyType }
    private var keys: Set<ObjectKey> = []
    /// Objects whose rows are deleted, and that are not inserted again.
    private var gone: Set<ObjectKey> = []
    /// References whose change the policy rejects.
    private var rejected: Set<RelationshipEdits.Side> = []
    /// Objects whose deletion the policy reverts.
    private var restored: Set<ObjectKey> = []
    private var reads: ChangeMergeReads
    /// Deleted objects to which reloaded rows refer.
    private var deleted: [NSManagedObject] = []
    /// Objects without changes that were reloaded, because changed rows refer to them.
    private(set) var refreshed: [ObjectKey: NSManagedObject] = [:]

    init(_ context: NSManagedObjectContext, policy: NSMergePolicyType, isSettling: Bool) {
        self.context = context
        self.policy = policy
        self.isSettling = isSettling
        reads = ChangeMergeReads(context, keys: [])
    }

    /// Reloads the rows of objects and applies their unsaved changes. Objects without changes become faults.
    ///
    /// Everything is read before anything is changed; an error leaves all objects as they were.
    ///
    /// Cost: a step for every changed object, and a statement for each entity of the objects and of the objects they
    /// refer to.
    mutating func run(_ objects: [NSManagedObject]) throws {
        let existingKeys = try context.readAgain(objects.filter(\.hasChanges).map(\.key))
        let objects = objects.filter { object in
            (isSettling || isDiscarding || !object.hasChanges || existingKeys.contains(object.key))
                && keys.insert(object.key).inserted
        }
        guard !objects.isEmpty else { return }
        reads = ChangeMergeReads(context, keys: keys)
        var edits = RelationshipEdits(concerning: keys, in: context)
        try readPartners(objects, existingKeys, edits)
        edits.withdraw(butOf: keys)
        for object in objects {
            context.restorePoint?.keep(object)
            guard isSettling || object.hasChanges else {
                context.turnIntoFault(object)
                continue
            }
            if existingKeys.contains(object.key) {
                reread(object, &edits)
            } else if isSettling {
                resolveDeleted(object, &edits)
            } else {
                context.removeChanges(of: object)
                context.turnIntoFault(object)
            }
        }
        context.tracker.remove { !$0.flags.contains(.listed) }
        edits.insertPreceding()
        drop(from: &edits)
        refreshPartners(of: edits)
        for edit in edits.references where edit.now == nil { apply(edit) }
        for edit in edits.references where edit.now != nil { apply(edit) }
        for edit in edits.pairs { apply(edit) }
        for order in edits.orders { apply(order) }
        for object in edits.deletions + deleted { propagateAgain(object) }
        context.removeReferences(to: gone)
        context.propagateDeletions()
    }

    // MARK: - Reading

    /// Reads the rows of the objects that changes refer to, then those of their owners, the order of members, and what deletions
    /// need.
    private mutating func readPartners(
        _ objects: [NSManagedObject], _ existingKeys: Set<ObjectKey>, _ edits: RelationshipEdits
    ) throws {
        var deleted = edits.deletions.map(\.key)
        for object in objects where isSettling || object.hasChanges {
            let exists = existingKeys.contains(object.key)
            // Changes that the policy makes: references of the object win over those of the row, or are restored.
            let changesReferences = policy == .overwriteMergePolicyType || policy == .rollbackMergePolicyType
            for slot in object.layout.referenceSlots {
                let stored = exists ? try reads.destination(of: object.key, slot: slot) : nil
                if changesReferences || !exists {
                    reads.need(stored)
                    if object.values != nil { reads.need(object.slotValue(slot).referenceKey) }
                }
                if !exists { reads.need(object.committedValue(slot).referenceKey) }
                if let stored, context.registeredObject(for: stored)?.flags.contains(.deleted) == true {
                    deleted.append(stored)
                }
            }
            for case let state? in object.toMany where !exists && state.isLoaded {
                for key in state.members.keys { reads.need(key) }
            }
        }
        for edit in edits.references {
            reads.need(edit.now)
            reads.need(try current(edit))
        }
        for edit in edits.pairs {
            reads.need(edit.object.key)
            reads.need(edit.member)
        }
        try reads.read()
        for edit in edits.references {
            let end = edit.object.layout.links.slots[edit.slot].inverse
            let former = try current(edit)
            for owner in [edit.now, former, edit.before] { try reads.readOrder(of: owner, at: end) }
            guard case .slot(let slot) = end, let now = edit.now else { continue }
            reads.need(try reads.destination(of: now, slot: slot))
        }
        for edit in edits.pairs {
            let link = edit.object.layout.links.toMany[edit.index]
            try reads.readOrder(of: edit.object.key, at: link.own)
            try reads.readOrder(of: edit.member, at: link.inverse)
        }
        for order in edits.orders { try reads.readOrder(of: order.object.key, at: .toMany(order.index)) }
        try reads.read()
        if !deleted.isEmpty { try reads.readDeletions(of: deleted) }
    }

    /// The destination that an object has when its change is made again.
    private func current(_ edit: RelationshipEdits.Reference) throws -> ObjectKey? {
        keys.contains(edit.object.key) ? try reads.destination(of: edit.object.key, slot: edit.slot) : edit.before
    }

    // MARK: - Rows

    /// Reloads an object whose row exists, and applies the object's own values according to the policy.
    private mutating func reread(_ object: NSManagedObject, _ edits: inout RelationshipEdits) {
        object.noticeInPlaceChanges()
        let before = object.committedValues() ?? object.layout.initialValues
        let own = object.values?.complete(over: before) ?? before
        if object.flags.contains(.inserted) { context.noteStored(object) }
        let isDeleted = object.flags.contains(.deleted)
        if policy == .rollbackMergePolicyType {
            if isDeleted { restored.insert(object.key) }
            context.removeChanges(of: object)
        }
        object.state.withdrawRow()
        guard context.hasRow(object), let now = object.committedValues() else {
            object.state.realise(with: own)
            return
        }
        for (slot, description) in object.layout.slots.enumerated() where description.kind != .position {
            let isChanged = !own[slot].isSame(as: before[slot])
            let hasChangedInStore = !now[slot].isSame(as: before[slot])
            let wins =
                switch policy {
                case .rollbackMergePolicyType: false
                case .overwriteMergePolicyType: true
                case .mergeByPropertyStoreTrumpMergePolicyType: isChanged && !hasChangedInStore
                default: isChanged
                }
            if description.kind == .toOne {
                if let key = now[slot].referenceKey, let owner = context.registeredObject(for: key),
                    owner.flags.contains(.deleted), !keys.contains(key)
                {
                    deleted.append(owner)
                }
                let side = RelationshipEdits.Side(key: object.key, field: slot)
                if restored.contains(object.key) {
                    edits.restore(object, slot: slot, to: now[slot].referenceKey)
                } else if isChanged, !wins {
                    rejected.insert(side)
                }
                if wins, !isChanged, !isDeleted {
                    edits.force(object, slot: slot, from: now[slot].referenceKey, to: own[slot].referenceKey)
                }
            } else if wins || !description.isPersistent, !own[slot].isSame(as: now[slot]) {
                object.setPrimitiveSlot(slot, to: own[slot])
            }
        }
        // Discards watched values of the former row.
        if object.flags.contains(.watched), object.values == nil { context.inPlaceValues.remove(object) }
    }

    /// Resolves an object whose row is deleted: it is inserted again completely, or removed.
    private mutating func resolveDeleted(_ object: NSManagedObject, _ edits: inout RelationshipEdits) {
        let states = object.toMany
        for slot in object.layout.referenceSlots {
            if let key = object.committedValue(slot).referenceKey { refresh(key) }
        }
        for case let state? in states where state.isLoaded { for key in state.members.keys { refresh(key) } }
        let comesBack = policy == .overwriteMergePolicyType || policy == .mergeByPropertyObjectTrumpMergePolicyType
        guard comesBack, !object.flags.contains(.deleted) else {
            gone.insert(object.key)
            context.removeChanges(of: object)
            return context.removeInaccessible(object)
        }
        context.reinsert(object)
        for slot in object.layout.referenceSlots {
            let reference = object.slotValue(slot).referenceKey
            object.setPrimitiveSlot(slot, to: .null)
            edits.force(object, slot: slot, from: nil, to: reference)
        }
    }

    // MARK: - Rejected changes

    /// Removes the changes that the policy rejects, and those of deleted objects.
    private func drop(from edits: inout RelationshipEdits) {
        edits.references = edits.references.compactMap { edit in
            guard !gone.contains(edit.object.key) else { return nil }
            guard !isRejected(edit) else { return nil }
            var edit = edit
            if let now = edit.now, gone.contains(now) { edit.now = nil }
            return edit
        }
        let isRollback = policy == .rollbackMergePolicyType
        edits.pairs.removeAll { edit in
            gone.contains(edit.object.key) || gone.contains(edit.member)
                || isRollback && (keys.contains(edit.object.key) || keys.contains(edit.member))
        }
        edits.dropOrders(of: isRollback ? keys : gone)
    }

    /// For a one-to-one relationship either side can reject the change; for others the side with the reference.
    private func isRejected(_ edit: RelationshipEdits.Reference) -> Bool {
        if rejected.contains(RelationshipEdits.Side(key: edit.object.key, field: edit.slot)) { return true }
        // The reference was cleared by a deletion that is reverted.
        if edit.now == nil, let before = edit.before, restored.contains(before) { return true }
        guard case .slot(let slot) = edit.object.layout.links.slots[edit.slot].inverse,
            let partner = edit.now ?? edit.before
        else { return false }
        return rejected.contains(RelationshipEdits.Side(key: partner, field: slot))
    }

    // MARK: - The other sides

    /// Reloads the objects that changes refer to.
    private mutating func refreshPartners(of edits: RelationshipEdits) {
        for edit in edits.references {
            if let now = edit.now { refresh(now) }
            if edit.object.context === context, let key = edit.object.slotValue(edit.slot).referenceKey { refresh(key) }
        }
        for edit in edits.pairs { refresh(edit.member) }
    }

    /// Turns an object into a fault, unless it is saved too: the save then checks its version.
    private mutating func refresh(_ key: ObjectKey) {
        guard !keys.contains(key), refreshed[key] == nil, let object = context.registeredObject(for: key),
            object.flags.isDisjoint(with: [.inserted, .deleted])
        else { return }
        object.noticeInPlaceChanges()
        guard object.persistentChangedSlots().isEmpty, !object.hasChangedToMany(persistent: true) else { return }
        refreshed[key] = object
        context.letGo(of: object)
    }

    /// The object with a key in its current state in the store, with unsaved changes applied; nil if it does not
    /// exist.
    private mutating func existing(_ key: ObjectKey) -> NSManagedObject? {
        refresh(key)
        let object = context.object(for: key)
        if object.flags.contains(.deleted) { return nil }
        context.restorePoint?.keep(object)
        return object.flags.contains(.inserted) || context.hasRow(object) ? object : nil
    }

    // MARK: - Making changes again

    private mutating func apply(_ edit: RelationshipEdits.Reference) {
        guard let object = existing(edit.object.key) else { return }
        let target = edit.now.flatMap { existing($0) }
        let current = object.slotValue(edit.slot).referenceKey
        if current != target?.key {
            if let former = current.flatMap({ existing($0) }) {
                leave(former, object, at: object.layout.links.slots[edit.slot].inverse)
            }
            object.setPrimitiveSlot(edit.slot, to: target.map { .reference($0.key) } ?? .null)
            context.noteChange(of: object)
        }
        if let target { join(target, object, slot: edit.slot) }
    }

    private mutating func apply(_ edit: RelationshipEdits.Pair) {
        guard let object = existing(edit.object.key), let member = existing(edit.member) else { return }
        change(object, at: edit.index, member.key, isAdded: edit.isAdded)
        guard case .toMany(let index) = object.layout.links.toMany[edit.index].inverse else { return }
        change(member, at: index, object.key, isAdded: edit.isAdded)
    }

    private mutating func apply(_ order: RelationshipEdits.Order) {
        guard let object = existing(order.object.key) else { return }
        if reads.load(object, at: order.index).takeOrder(order.members) { context.noteChange(of: object) }
    }

    private mutating func join(_ target: NSManagedObject, _ object: NSManagedObject, slot: Int) {
        switch object.layout.links.slots[slot].inverse {
        case .none: break
        case .toMany(let index): change(target, at: index, object.key, isAdded: true)
        case .slot(let inverse):
            let owner = target.slotValue(inverse).referenceKey
            guard owner != object.key else { return }
            if let former = owner.flatMap({ existing($0) }) { leave(former, target, at: .slot(slot)) }
            target.setPrimitiveSlot(inverse, to: .reference(object.key))
            context.noteChange(of: target)
        }
    }

    private func leave(_ object: NSManagedObject, _ other: NSManagedObject, at end: RelationshipLinks.End) {
        switch end {
        case .none: break
        case .toMany(let index): change(object, at: index, other.key, isAdded: false)
        case .slot(let slot):
            guard object.slotValue(slot).referenceKey == other.key else { return }
            object.setPrimitiveSlot(slot, to: .null)
            context.noteChange(of: object)
        }
    }

    private func change(_ object: NSManagedObject, at index: Int, _ member: ObjectKey, isAdded: Bool) {
        let isOrdered = object.layout.toMany[index].isOrdered
        let state = isOrdered ? reads.load(object, at: index) : object.ensureToManyState(at: index)
        guard isAdded ? state.add(member) : state.remove(member, keepsOrder: isOrdered) else { return }
        object.state.noteRelationshipChange()
        context.noteChange(of: object)
    }

    /// Applies the delete rules of an unsaved deletion again, to the current state of the store.
    private mutating func propagateAgain(_ object: NSManagedObject) {
        guard object.context === context, object.flags.contains(.deleted), !object.flags.contains(.inserted) else {
            return
        }
        object.state.withdrawMembers()
        for (index, field) in object.layout.toMany.enumerated() {
            let rule = field.relationship.deleteRule
            guard rule == .nullifyDeleteRule || rule == .cascadeDeleteRule else { continue }
            let members = reads.load(object, at: index).members.keys
            // All at once, so that they are read in batches.
            for key in members { refresh(key) }
            for key in members {
                change(object, at: index, key, isAdded: false)
                disconnect(key, from: object, at: object.layout.links.toMany[index].inverse, rule)
            }
        }
        for slot in object.layout.referenceSlots {
            let description = object.layout.slots[slot]
            let reference = object.committedValue(slot)
            object.setPrimitiveSlot(slot, to: reference)
            guard let key = reference.referenceKey else { continue }
            let relationship = description.isHidden ? nil : description.property as? NSRelationshipDescription
            let rule = relationship?.deleteRule ?? .nullifyDeleteRule
            guard rule == .nullifyDeleteRule || rule == .cascadeDeleteRule else { continue }
            object.setPrimitiveSlot(slot, to: .null)
            disconnect(key, from: object, at: object.layout.links.slots[slot].inverse, rule)
        }
    }

    private mutating func disconnect(
        _ key: ObjectKey, from object: NSManagedObject, at end: RelationshipLinks.End, _ rule: NSDeleteRule
    ) {
        // An object that an unsaved change has given another owner no longer belongs to this one.
        guard let other = existing(key), other.refers(to: object.key, at: end) else { return }
        leave(other, object, at: end)
        if rule == .cascadeDeleteRule { delete(other) }
    }

    /// Deletes an object that a deletion cascades to, and those that its own deletion cascades to, with the members that were
    /// read.
    private func delete(_ object: NSManagedObject) {
        var waiting = [object]
        var seen: Set<ObjectKey> = [object.key]
        while let object = waiting.popLast() {
            for (index, field) in object.layout.toMany.enumerated() {
                let members = reads.load(object, at: index).members.keys
                guard field.relationship.deleteRule == .cascadeDeleteRule else { continue }
                for key in members where seen.insert(key).inserted { waiting.append(context.object(for: key)) }
            }
        }
        context.deleteObject(object)
    }
}
