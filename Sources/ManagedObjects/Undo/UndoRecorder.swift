import Foundation

/// Records what an event changes, so that the context's undo manager can take it back.
///
/// A step holds differences, not states: values that were set, members that came and went, objects that appeared and
/// vanished. So it can be taken back after a save, or after a merge has changed other values of the same objects. Nothing
/// is recorded while the context has no undo manager.
struct UndoRecorder {
    /// What an object was before an event.
    private struct Before {
        var object: NSManagedObject
        var isThere: Bool
        var values: ContiguousArray<Value>
        var toMany: ContiguousArray<ToManyState?>
    }

    /// What an event did to an object, as much of it as is needed to take it back.
    struct Change {
        var object: NSManagedObject
        /// Whether the object was there before, and whether it is there now: neither inserted since nor deleted.
        var wasThere: Bool
        var isThere: Bool
        /// The slots that were changed, and all values before.
        var slots: [Int]
        var values: ContiguousArray<Value>
        var members: [MemberChange]
    }

    /// The members that a to-many relationship gained and lost.
    struct MemberChange {
        var index: Int
        var added: [ObjectKey]
        var removed: [ObjectKey]
        /// All members before, where they have an order.
        var order: ContiguousArray<ObjectKey>?
    }

    private var isEnabled = false
    private var before: ContiguousArray<Before> = []
    /// What the manager is listened to by: changes that belong to its open group are handed over before it ends.
    private(set) var checkpoint: (any NSObjectProtocol)?

    mutating func managerChanged(from old: UndoManager?, to new: UndoManager?, context: NSManagedObjectContext) {
        old?.removeAllActions(withTarget: context)
        isEnabled = new != nil
        before = []
        if let checkpoint { NotificationCenter.default.removeObserver(checkpoint) }
        checkpoint = new.map { manager in
            NotificationCenter.default.addObserver(forName: .NSUndoManagerCheckpoint, object: manager, queue: nil) {
                [weak context] _ in context?.processPendingChanges()
            }
        }
    }

    /// Called before an object's first change in an event.
    mutating func willChange(_ object: NSManagedObject, in context: NSManagedObjectContext) {
        guard isEnabled else { return }
        before.append(
            Before(
                object: object, isThere: object.isThere && !object.state.contains(.insertedInEvent),
                values: object.currentValues(), toMany: ContiguousArray(object.toMany.map { $0?.copy() })))
    }

    /// Forgets what has been noted of an event that ends with a save, a rollback or a reset.
    mutating func forgetEvent() { before = [] }

    /// Called when an event ends: hands what it changed to the undo manager as one step.
    mutating func endEvent(in context: NSManagedObjectContext) {
        let noted = before
        before = []
        guard isEnabled, let manager = context.undoManager else { return }
        let changes = ContiguousArray(noted.compactMap(Self.change))
        guard !changes.isEmpty else { return }
        manager.registerUndo(withTarget: context) { context in context.takeBack(changes) }
    }

    private static func change(since before: Before) -> Change? {
        let object = before.object
        let values = object.currentValues()
        let change = Change(
            object: object, wasThere: before.isThere, isThere: object.isThere,
            slots: values.indices.filter { !values[$0].isSame(as: before.values[$0]) }, values: before.values,
            members: object.toMany.indices.compactMap { index in
                let former = index < before.toMany.count ? before.toMany[index] : nil
                return memberChange(at: index, from: former, to: object.toMany[index])
            })
        let isNothing = change.wasThere == change.isThere && change.slots.isEmpty && change.members.isEmpty
        return isNothing || !change.wasThere && !change.isThere ? nil : change
    }

    private static func memberChange(at index: Int, from before: ToManyState?, to now: ToManyState?) -> MemberChange? {
        guard let now else { return nil }
        guard now.isLoaded else {
            let former = (added: before?.added.keys ?? [], removed: before?.removed.keys ?? [])
            let (added, removed) = now.differences()
            return MemberChange(
                index: index,
                added: added.filter { !former.added.contains($0) } + former.removed.filter { !removed.contains($0) },
                removed: removed.filter { !former.removed.contains($0) } + former.added.filter { !added.contains($0) }
            ).unlessEmpty
        }
        var former: KeyList
        if let before, before.isLoaded {
            former = before.members
        } else {
            // It was loaded during the event: what is committed now, and what had been changed before.
            former = KeyList(now.committed ?? now.members.keys)
            for key in before?.removed.keys ?? [] { former.remove(key, keepsOrder: true) }
            for key in before?.added.keys ?? [] where !former.contains(key) { former.append(key) }
        }
        var current = now.members
        var change = MemberChange(
            index: index, added: current.keys.filter { !former.contains($0) },
            removed: former.keys.filter { !current.contains($0) })
        if former.keys != current.keys { change.order = former.keys }
        return change.unlessEmpty
    }
}

extension UndoRecorder.MemberChange {
    fileprivate var unlessEmpty: Self? { added.isEmpty && removed.isEmpty && order == nil ? nil : self }
}

extension NSManagedObject {
    /// Whether the object is one of its context's: neither deleted nor forgotten.
    fileprivate final var isThere: Bool { state.isDisjoint(with: [.deleted, .gone]) }
}

// MARK: - Taking back

extension NSManagedObjectContext {
    /// Takes an event's changes back. That is an event too: what it does is recorded in turn, for the way forth.
    final func takeBack(_ changes: ContiguousArray<UndoRecorder.Change>) {
        for change in changes where change.wasThere && !change.isThere { bringBack(change.object) }
        for change in changes {
            if !change.wasThere, change.object.state.contains(.inserted) {
                vanish(change.object)
            } else {
                takeBack(change)
                if !change.wasThere { deleteAlone(change.object) }
            }
        }
        changed.removeAll { !$0.state.contains(.listed) }
        for change in changes {
            forgetChangesThatAreNone(of: change.object)
            change.object.awake(
                fromSnapshotEvents: change.wasThere == change.isThere
                    ? .undoUpdate : change.wasThere ? .undoDeletion : .undoInsertion)
        }
        processPendingChanges()
    }

    /// Makes a deleted object one that is not. Where its deletion has been saved it is inserted again, under its key.
    private func bringBack(_ object: NSManagedObject) {
        beginChange(of: object)
        if object.state.contains(.deleted) { return undelete(object) }
        object.values = object.currentValues()
        object.page = nil
        object.committed = nil
        object.version = 0
        object.toMany = ToManyStates(object.toMany.map { $0.map { ToManyState(ofNewObject: $0.members) } })
        object.context = self
        object.state = [.inserted, .realised, .insertedInEvent, .changedInEvent, .listed]
        registry.register(object, as: object.key)
        insertedCount += 1
        changed.append(object)
    }

    /// Forgets an object whose insertion has not been saved.
    private func vanish(_ object: NSManagedObject) {
        beginChange(of: object)
        registry.forget(object.key)
        insertedCount -= 1
        object.state = [.gone, .changedInEvent]
        object.context = nil
    }

    /// Marks a stored object for deletion; delete rules have nothing to do with it.
    private func deleteAlone(_ object: NSManagedObject) {
        recordChange(of: object)
        guard !object.state.contains(.deleted) else { return }
        updatedCount -= 1
        deletedCount += 1
        object.state.formUnion([.deleted, .deletionPropagated])
    }

    /// What `recordChange` does, for an object that may be none of the context's at the moment.
    private func beginChange(of object: NSManagedObject) {
        guard !object.state.contains(.changedInEvent) else { return }
        undoRecorder.willChange(object, in: self)
        object.state.insert(.changedInEvent)
        changedInEvent.append(object)
    }

    private func takeBack(_ change: UndoRecorder.Change) {
        let object = change.object
        guard object.context === self else { return }
        recordChange(of: object)
        if object.state.contains(.watched) { inPlaceValues.forget(object) }
        // What users hold of it is theirs now: the object gets values of its own.
        let values = change.slots.isEmpty ? change.values : object.isolated(change.values)
        for slot in change.slots {
            let name = object.layout.slots[slot].name
            if let name { object.willChangeValue(forKey: name) }
            object.setPrimitiveSlot(slot, to: current(values[slot]))
            if let name { object.didChangeValue(forKey: name) }
        }
        for members in change.members { takeBack(members, of: object) }
    }

    private func takeBack(_ change: UndoRecorder.MemberChange, of object: NSManagedObject) {
        let place = object.layout.toMany[change.index]
        object.willChangeValue(forKey: place.name)
        let isOrdered = place.isOrdered
        let state = isOrdered ? object.loadedToManyState(at: change.index) : object.ensureToManyState(at: change.index)
        for key in change.added { state.remove(current(key), keepsOrder: isOrdered) }
        for key in change.removed { state.add(current(key)) }
        if let order = change.order.map({ ContiguousArray($0.map(current)) }), state.isLoaded,
            Set(order) == Set(state.members.keys)
        {
            state.replaceMembers(order)
        }
        object.state.insert(.relationshipChanged)
        object.didChangeValue(forKey: place.name)
    }

    /// An object that is what the store has again has no changes.
    private func forgetChangesThatAreNone(of object: NSManagedObject) {
        guard object.state.contains(.updated), object.state.isDisjoint(with: [.inserted, .deleted, .gone]) else {
            return
        }
        for (state, place) in zip(object.toMany, object.layout.toMany) {
            state?.forgetChangesThatAreNone(isOrdered: place.isOrdered)
        }
        guard object.changedSlots().isEmpty, !object.hasChangedToMany(persistent: false) else { return }
        object.state.subtract([.updated, .relationshipChanged])
        updatedCount -= 1
    }

    /// The name that an object has now: a step may know it by the one that it had before it was saved.
    private func current(_ key: ObjectKey) -> ObjectKey {
        key.isTemporary ? aliases[key.number] ?? key : key
    }

    private func current(_ value: Value) -> Value {
        if case .reference(let key) = value { .reference(current(key)) } else { value }
    }

    // MARK: - Public

    /// Takes back the last step that the undo manager has recorded.
    public func undo() {
        processPendingChanges()
        undoManager?.undo()
    }

    /// Does again what ``undo()`` has taken back.
    public func redo() {
        processPendingChanges()
        undoManager?.redo()
    }
}
