import Foundation
import FoundationAdditions

// A step contains differences, so that it can be undone after a save or a merge. Undoing a step is an ordinary event,
// which changes both sides of relationships and records the step that redoes it.

/// Records the changes of an event, so that the context's undo manager can undo them.
///
/// A step contains differences, not states: changed values, added and removed members, inserted and deleted objects. So
/// it can be undone after a save, or after a merge has changed other values of the same objects. Nothing is recorded
/// while the context has no undo manager.
struct UndoRecorder {
    /// The state of an object before an event.
    private struct Before {
        var object: NSManagedObject
        var isThere: Bool
        var values: ContiguousArray<Value>
    }

    /// The changes of an event to an object that are needed to undo it.
    struct Change {
        var object: NSManagedObject
        /// Whether the object existed before the event, and whether it exists after it. Before its insertion and after
        /// its deletion an object does not exist.
        var wasThere: Bool
        var isThere: Bool
        /// The changed slots, and all former values.
        var slots: [Int]
        var values: ContiguousArray<Value>
        var members: [MemberChange]
    }

    /// The added and removed members of a to-many relationship.
    struct MemberChange {
        var index: Int
        var added: [ObjectKey]
        var removed: [ObjectKey]
        /// The former positions of ordered members that have left their places.
        var places: [MemberEdits.Place] = []
        /// All former members in order, if many have left their places.
        var order: ContiguousArray<ObjectKey>?
    }

    private var isEnabled = false
    private var before: ContiguousArray<Before> = []
    /// Objects whose changes in the event are discarded, and the number of records when they were.
    private var discarded: [ObjectIdentifier: Int] = [:]
    /// The observer of the manager's checkpoints: changes that belong to its open group are registered before the group
    /// ends.
    private(set) var checkpoint: (any NSObjectProtocol)?

    mutating func managerChanged(from old: UndoManager?, to new: UndoManager?, context: NSManagedObjectContext) {
        old?.removeAllActions(withTarget: context)
        isEnabled = new != nil
        discardEvent()
        if let checkpoint { NotificationCenter.default.removeObserver(checkpoint) }
        checkpoint = new.map { manager in
            NotificationCenter.default.addObserver(forName: .NSUndoManagerCheckpoint, object: manager, queue: nil) {
                [weak context] _ in _ = context?.endEvent()
            }
        }
    }

    /// Called before an object's first change in an event.
    mutating func willChange(_ object: NSManagedObject, in context: NSManagedObjectContext) {
        guard isEnabled else { return }
        before.append(
            Before(
                object: object, isThere: object.isThere && !object.flags.contains(.insertedInEvent),
                values: object.currentValues()))
        object.toMany.forEachMade { $0.noteEdits() }
    }

    /// Discards the record of an object whose changes in the event are discarded.
    mutating func discard(_ object: NSManagedObject) {
        guard !before.isEmpty else { return }
        discarded[ObjectIdentifier(object)] = before.count
        object.toMany.forEachMade { _ = $0.takeEdits() }
    }

    /// Discards the records of an event that ends with a save, a rollback or a reset.
    mutating func discardEvent() {
        for record in takeEvent() { record.object.toMany.forEachMade { _ = $0.takeEdits() } }
    }

    private mutating func takeEvent() -> ContiguousArray<Before> {
        defer { (before, discarded) = ([], [:]) }
        if discarded.isEmpty { return before }
        return ContiguousArray(
            before.enumerated().lazy.filter { [discarded] index, record in
                index >= discarded[ObjectIdentifier(record.object)] ?? 0
            }.map(\.element))
    }

    /// Called when an event ends: registers its changes with the undo manager as one step.
    mutating func endEvent(in context: NSManagedObjectContext) {
        let noted = takeEvent()
        guard isEnabled, let manager = context.undoManager else { return }
        let changes = ContiguousArray(noted.compactMap(Self.change))
        guard !changes.isEmpty else { return }
        manager.registerUndo(withTarget: context) { context in context.undoChanges(changes) }
    }

    private static func change(since before: Before) -> Change? {
        let object = before.object
        let values = object.currentValues()
        let change = Change(
            object: object, wasThere: before.isThere, isThere: object.isThere,
            slots: values.indices.filter { !values[$0].isSame(as: before.values[$0]) }, values: before.values,
            members: object.toMany.indices.compactMap { memberChange(of: object, at: $0) })
        let isNothing = change.wasThere == change.isThere && change.slots.isEmpty && change.members.isEmpty
        return isNothing || !change.wasThere && !change.isThere ? nil : change
    }

    /// Cost: a step for each change.
    private static func memberChange(of object: NSManagedObject, at index: Int) -> MemberChange? {
        guard let state = object.toMany[index] else { return nil }
        let isOrdered = object.layout.toMany[index].isOrdered
        guard let edits = state.takeEdits() else {
            // Nothing was known of the relationship when the event began, so that all of its changes are of the event.
            let (added, removed) = state.differences()
            return MemberChange(
                index: index, added: Array(added), removed: Array(removed), order: isOrdered ? state.committed : nil
            ).unlessEmpty
        }
        return MemberChange(
            index: index, added: Array(edits.added.keys), removed: Array(edits.removed.keys),
            places: isOrdered ? edits.places : [], order: isOrdered ? edits.order : nil
        ).unlessEmpty
    }
}

extension UndoRecorder.MemberChange {
    fileprivate var unlessEmpty: Self? {
        added.isEmpty && removed.isEmpty && places.isEmpty && order == nil ? nil : self
    }
}

extension NSManagedObject {
    /// Whether the object belongs to its context: neither deleted nor removed.
    fileprivate final var isThere: Bool { flags.isDisjoint(with: [.deleted, .gone]) }

    /// Ends the relationships that the object still has, on both sides.
    fileprivate final func leaveRelatedObjects() {
        for slot in layout.referenceSlots where layout.kinds[slot] == .toOne && slotValue(slot).referenceKey != nil {
            setReference(slot: slot, to: nil)
        }
        for index in layout.toMany.indices where toMany[index]?.hasNoMembers == false {
            for member in members(at: index) { removeMember(member, at: index) }
        }
    }
}

// MARK: - Undoing

extension NSManagedObjectContext {
    /// Undoes an event's changes. This is an event too: its changes are recorded in turn, for redoing.
    ///
    /// Relationships are changed on both sides and against their current state, since merges may have changed them
    /// after the event.
    /// If the store cannot be read, nothing is undone, and the step is registered again.
    final func undoChanges(_ changes: ContiguousArray<UndoRecorder.Change>) {
        do {
            if failedStep != .puttingBack {
                try restoringOnError { _ in undo(changes) }
                endEvent()
                return
            }
        } catch {
            failedStep = .failed
            noteFailedRead(error, "could not undo or redo a step")
        }
        undoManager?.registerUndo(withTarget: self) { context in context.undoChanges(changes) }
    }

    private func undo(_ changes: ContiguousArray<UndoRecorder.Change>) {
        let changes = changes.map { change in
            var change = change
            change.object = current(change.object)
            return change
        }
        willUndoInsertions?(changes.filter { !$0.wasThere }.map(\.object))
        for change in changes where change.wasThere && !change.isThere { undoDeletion(change.object) }
        for change in changes { undoValues(change) }
        // References that become nil are set first, so that no object is removed from an owner to which it no longer
        // belongs.
        for change in changes { undoReferences(change) { $0 == nil } }
        for change in changes { undoReferences(change) { $0 != nil } }
        for change in changes {
            for members in change.members { undoMembers(members, of: change.object) }
        }
        let inserted = changes.filter { !$0.wasThere }.map(\.object)
        removeUnsaved(inserted.filter { $0.flags.contains(.inserted) })
        for object in inserted where !object.flags.contains(.gone) { deleteAgain(object) }
        for change in changes {
            dropIneffectiveChanges(of: change.object)
            change.object.awake(
                fromSnapshotEvents: change.wasThere == change.isThere
                    ? .undoUpdate : change.wasThere ? .undoDeletion : .undoInsertion)
        }
        readForDeleteRules(of: tracker.deletionsInEvent)
    }

    /// Undoes or redoes the last step. One that fails is put back, so that it is the next one again.
    final func perform(_ step: (UndoManager) -> Void, reverse: (UndoManager) -> Void) {
        endEvent()
        guard let undoManager else { return }
        failedStep = nil
        step(undoManager)
        guard failedStep == .failed else { return }
        failedStep = .puttingBack
        reverse(undoManager)
        failedStep = nil
    }

    /// What happens to a step that could not be undone or redone.
    enum FailedStep {
        /// It is registered for the opposite direction.
        case failed
        /// It is being moved back, which changes no objects.
        case puttingBack
    }

    /// Reverts a deletion. If the deletion was saved, the object is inserted again, with its key.
    private func undoDeletion(_ object: NSManagedObject) {
        guard !object.isThere || object.context !== self else { return }
        beginChange(of: object)
        if object.flags.contains(.deleted) { return undelete(object) }
        let toMany = ToManyStates(
            object.layout.toMany.indices.map { index in
                object.toManyState(at: index).map { ToManyState(ofNewObject: $0.members) }
            })
        tracker.index.removeAll()
        let values = object.currentValues()
        change(object) { $0.reinsert(values, toMany: toMany) }
        object.context = self
        registry.register(object, as: object.key)
        list(object)
    }

    /// Removes objects whose insertion was not saved, and the references to them.
    private func removeUnsaved(_ objects: [NSManagedObject]) {
        for object in objects {
            beginChange(of: object)
            object.leaveRelatedObjects()
        }
        let groups = Dictionary(grouping: objects, by: \.layout.index).values
        let destinations = groups.filter { $0[0].layout.isDestinationWithoutInverse }.joined()
        removeReferences(to: Set(destinations.lazy.map(\.key)))
        for object in objects {
            registry.remove(object.key)
            unlist(object)
            let kept = object.flags.intersection([.changedInEvent, .unlisted])
            change(object) { $0.leave(keeping: kept) }
            object.context = nil
        }
    }

    /// Deletes an object whose insertion was saved, applying the delete rules to objects that were related to it since.
    private func deleteAgain(_ object: NSManagedObject) {
        guard object.context === self, object.flags.isDisjoint(with: .removed) else { return }
        restorePoint?.keep(object)
        change(object) { $0.delete() }
        tracker.deletionsInEvent.append(object)
    }

    /// The same as `recordChange`, for an object that may not belong to the context at the moment.
    private func beginChange(of object: NSManagedObject) {
        restorePoint?.keep(object)
        guard !object.flags.contains(.changedInEvent) else { return }
        undoRecorder.willChange(object, in: self)
        object.state.joinEvent()
        tracker.inEvent.append(object)
    }

    private func undoValues(_ change: UndoRecorder.Change) {
        let object = change.object
        guard object.context === self else { return }
        recordChange(of: object)
        guard !object.flags.contains(.inaccessible) else { return }
        if object.flags.contains(.watched) { inPlaceValues.remove(object) }
        // The former values may be referenced by the caller, so the object gets copies.
        let values = change.slots.isEmpty ? change.values : object.isolated(change.values)
        for slot in change.slots where object.layout.kinds[slot] != .toOne { object.setSlot(slot, to: values[slot]) }
    }

    private func undoReferences(_ change: UndoRecorder.Change, where isWanted: (ObjectKey?) -> Bool) {
        let object = change.object
        guard object.context === self, !object.flags.contains(.inaccessible) else { return }
        for slot in change.slots where object.layout.kinds[slot] == .toOne {
            let key = change.values[slot].referenceKey
            if isWanted(key) { object.setReference(slot: slot, to: key.flatMap { existingObject(forStepKey: $0) }) }
        }
    }

    private func undoMembers(_ change: UndoRecorder.MemberChange, of object: NSManagedObject) {
        guard object.context === self, !object.flags.contains(.inaccessible) else { return }
        let field = object.layout.toMany[change.index]
        if case .slot = object.layout.links.toMany[change.index].inverse {
            // The members' references were changed before.
        } else {
            for member in change.added.compactMap({ existingObject(forStepKey: $0) }) {
                object.removeMember(member, at: change.index)
            }
            for member in change.removed.compactMap({ existingObject(forStepKey: $0) }) {
                object.addMember(member, at: change.index)
            }
        }
        guard field.isOrdered, change.order != nil || !change.places.isEmpty else { return }
        object.willChangeValue(forKey: field.name)
        let state = object.loadedToManyState(at: change.index)
        if let order = change.order {
            _ = state.takeOrder(ContiguousArray(order.map(current)))
        } else {
            _ = state.takePlaces(change.places.map { .init(key: current($0.key), position: $0.position) })
        }
        object.state.noteRelationshipChange()
        object.didChangeValue(forKey: field.name)
    }

    /// The object with a key of a step, unless it no longer exists.
    private func existingObject(forStepKey key: ObjectKey) -> NSManagedObject? {
        let key = current(key)
        if key.isTemporary, registeredObject(for: key) == nil { return nil }
        let object = object(for: key)
        guard object.isThere, !object.flags.contains(.inaccessible) else { return nil }
        return object.flags.contains(.inserted) || hasRow(object) ? object : nil
    }

    /// The current object for that of a step: another instance if the object was released and looked up again.
    private func current(_ object: NSManagedObject) -> NSManagedObject {
        object.context === self ? object : registeredObject(for: object.key) ?? object
    }

    /// Drops the changes of an object whose values are equal to those in the store again.
    private func dropIneffectiveChanges(of object: NSManagedObject) {
        guard object.flags.contains(.updated), object.flags.isDisjoint(with: [.inserted, .deleted, .gone]) else {
            return
        }
        for (state, field) in zip(object.toMany, object.layout.toMany) {
            state?.removeEmptyChanges(isOrdered: field.isOrdered)
        }
        guard object.changedSlots().isEmpty, !object.hasChangedToMany(persistent: false) else { return }
        change(object) { $0.noteReverted() }
    }

    /// The current key of an object: a step may contain the temporary key from before a save.
    private func current(_ key: ObjectKey) -> ObjectKey {
        key.isTemporary ? aliases[key.number] ?? key : key
    }
}
