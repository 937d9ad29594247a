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
    ///
    /// Relationships go back on both sides and against what they are now, since merges may have changed them after the event.
    final func takeBack(_ changes: ContiguousArray<UndoRecorder.Change>) {
        let changes = changes.map { change in
            var change = change
            change.object = current(change.object)
            return change
        }
        for change in changes where change.wasThere && !change.isThere { bringBack(change.object) }
        for change in changes { takeBackValues(change) }
        // Who lets go comes first, so that nobody is taken from one who has let go.
        for change in changes { takeBackReferences(change) { $0 == nil } }
        for change in changes { takeBackReferences(change) { $0 != nil } }
        for change in changes {
            for members in change.members { takeBack(members, of: change.object) }
        }
        for change in changes where !change.wasThere {
            if change.object.state.contains(.inserted) { vanish(change.object) } else { deleteAgain(change.object) }
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
        guard !object.isThere || object.context !== self else { return }
        beginChange(of: object)
        if object.state.contains(.deleted) { return undelete(object) }
        object.values = object.currentValues()
        object.page = nil
        object.committed = nil
        object.version = 0
        object.toMany = ToManyStates(
            object.layout.toMany.indices.map { index in
                object.toManyState(at: index).map { ToManyState(ofNewObject: $0.members) }
            })
        object.context = self
        object.state = [.inserted, .realised, .insertedInEvent, .changedInEvent, .listed]
        registry.register(object, as: object.key)
        insertedCount += 1
        changed.append(object)
    }

    /// Forgets an object whose insertion has not been saved, and with it what still refers to it.
    private func vanish(_ object: NSManagedObject) {
        beginChange(of: object)
        forgetReferences(to: [object.key])
        registry.forget(object.key)
        insertedCount -= 1
        object.state = [.gone, .changedInEvent]
        object.context = nil
    }

    /// Deletes an object whose insertion has been saved, and as delete rules say what has come to it since.
    private func deleteAgain(_ object: NSManagedObject) {
        guard object.context === self, object.state.isDisjoint(with: [.deleted, .inaccessible]) else { return }
        updatedCount -= 1
        deletedCount += 1
        object.state.insert(.deleted)
        pendingDeletions.append(object)
    }

    /// What `recordChange` does, for an object that may be none of the context's at the moment.
    private func beginChange(of object: NSManagedObject) {
        guard !object.state.contains(.changedInEvent) else { return }
        undoRecorder.willChange(object, in: self)
        object.state.insert(.changedInEvent)
        changedInEvent.append(object)
    }

    private func takeBackValues(_ change: UndoRecorder.Change) {
        let object = change.object
        guard object.context === self else { return }
        recordChange(of: object)
        guard !object.state.contains(.inaccessible) else { return }
        if object.state.contains(.watched) { inPlaceValues.forget(object) }
        // What users hold of it is theirs now: the object gets values of its own.
        let values = change.slots.isEmpty ? change.values : object.isolated(change.values)
        for slot in change.slots where object.layout.kinds[slot] != .toOne { object.setSlot(slot, to: values[slot]) }
    }

    private func takeBackReferences(_ change: UndoRecorder.Change, where isWanted: (ObjectKey?) -> Bool) {
        let object = change.object
        guard object.context === self, !object.state.contains(.inaccessible) else { return }
        for slot in change.slots where object.layout.kinds[slot] == .toOne {
            let key = change.values[slot].referenceKey
            if isWanted(key) { object.setReference(slot: slot, to: key.flatMap { objectStillThere($0) }) }
        }
    }

    private func takeBack(_ change: UndoRecorder.MemberChange, of object: NSManagedObject) {
        guard object.context === self, !object.state.contains(.inaccessible) else { return }
        let place = object.layout.toMany[change.index]
        if case .slot = object.layout.links.toMany[change.index].inverse {
            // References have told who is a member.
        } else {
            for member in change.added.compactMap({ objectStillThere($0) }) {
                object.removeMember(member, at: change.index)
            }
            for member in change.removed.compactMap({ objectStillThere($0) }) {
                object.addMember(member, at: change.index)
            }
        }
        guard place.isOrdered, let order = change.order else { return }
        object.willChangeValue(forKey: place.name)
        _ = object.loadedToManyState(at: change.index).takeOrder(ContiguousArray(order.map(current)))
        object.state.insert(.relationshipChanged)
        object.didChangeValue(forKey: place.name)
    }

    /// The object with a key that a step knows, unless it is gone by now.
    private func objectStillThere(_ key: ObjectKey) -> NSManagedObject? {
        let key = current(key)
        if key.isTemporary, registeredObject(for: key) == nil { return nil }
        let object = object(for: key)
        guard object.isThere, !object.state.contains(.inaccessible) else { return nil }
        return object.state.contains(.inserted) || (try? realise(object)) == true ? object : nil
    }

    /// The object that stands for one that a step knows: another one where it has been forgotten and met again.
    private func current(_ object: NSManagedObject) -> NSManagedObject {
        object.context === self ? object : registeredObject(for: object.key) ?? object
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
