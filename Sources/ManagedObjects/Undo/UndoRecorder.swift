import Foundation

/// Records what an event changes, so that the context's undo manager can take it back.
///
/// Nothing is recorded while the context has no undo manager.
struct UndoRecorder {
    /// What an object was before an event: enough to make it so again.
    struct Snapshot {
        var object: NSManagedObject
        var state: ObjectState
        var values: ContiguousArray<Value>?
        var toMany: ContiguousArray<ToManyState?>
    }

    private var isEnabled = false
    private var before: ContiguousArray<Snapshot> = []

    mutating func managerChanged(
        from old: UndoManager?, to new: UndoManager?, context: NSManagedObjectContext
    ) {
        old?.removeAllActions(withTarget: context)
        isEnabled = new != nil
        before = []
    }

    /// Called before an object's first change in an event.
    mutating func willChange(_ object: NSManagedObject, in context: NSManagedObjectContext) {
        guard isEnabled else { return }
        var state = object.state
        state.subtract([.changedInEvent, .insertedInEvent])
        if object.state.contains(.insertedInEvent) { state.remove(.inserted) }
        // An object's first change marks it updated just before it is recorded.
        if object.values == nil, !object.state.contains(.relationshipChanged) { state.remove(.updated) }
        before.append(
            Snapshot(
                object: object, state: state, values: object.values,
                toMany: ContiguousArray(object.toMany.map { $0?.copy() })))
    }

    /// Called when an event ends: hands what it changed to the undo manager as one step.
    mutating func endEvent(_ objects: ContiguousArray<NSManagedObject>, in context: NSManagedObjectContext) {
        guard isEnabled, !before.isEmpty, let manager = context.undoManager else {
            before = []
            return
        }
        let snapshots = before
        before = []
        manager.registerUndo(withTarget: context) { context in context.restore(snapshots) }
    }
}

extension NSManagedObjectContext {
    /// Makes objects what they were, and records what they are now, for the way back.
    final func restore(_ snapshots: ContiguousArray<UndoRecorder.Snapshot>) {
        let manager = undoManager
        let inverse = ContiguousArray(
            snapshots.map { snapshot in
                UndoRecorder.Snapshot(
                    object: snapshot.object, state: snapshot.object.state, values: snapshot.object.values,
                    toMany: ContiguousArray(snapshot.object.toMany.map { $0?.copy() }))
            })
        for snapshot in snapshots { restore(snapshot) }
        manager?.registerUndo(withTarget: self) { context in context.restore(inverse) }
        var event = ObjectChanges()
        for snapshot in snapshots { event.updated.append(snapshot.object) }
        post(.NSManagedObjectContextObjectsDidChange, event.userInfo)
    }

    private func restore(_ snapshot: UndoRecorder.Snapshot) {
        let object = snapshot.object
        let wasInserted = object.state.contains(.inserted)
        let wasDeleted = object.state.contains(.deleted)
        count(object, by: -1)
        // What users hold of it is theirs now: the object gets values of its own.
        if object.state.contains(.watched) { inPlaceValues.forget(object) }
        object.values = snapshot.values.map { object.isolated($0) }
        object.toMany = ContiguousArray(snapshot.toMany.map { $0?.copy() })
        object.eventStart = nil
        let isListed = object.state.contains(.listed)
        object.state = snapshot.state.union(isListed ? [.listed] : [])
        object.state.subtract([.changedInEvent, .insertedInEvent, .watched])
        count(object, by: 1)
        let isInserted = object.state.contains(.inserted)
        if wasInserted, !isInserted, object.key.isTemporary {
            registry.forget(object.key)
        } else if isInserted, !wasInserted {
            registry.register(object, as: object.key)
        }
        if !object.state.contains(.listed), object.hasChanges {
            object.state.insert(.listed)
            changed.append(object)
        }
        let event: NSSnapshotEventType =
            wasInserted && !isInserted ? .undoInsertion : wasDeleted ? .undoDeletion : .undoUpdate
        object.awake(fromSnapshotEvents: event)
    }

    private func count(_ object: NSManagedObject, by step: Int) {
        if object.state.contains(.deleted) {
            if !object.state.contains(.inserted) { deletedCount += step }
        } else if object.state.contains(.inserted) {
            insertedCount += step
        } else if object.state.contains(.updated) {
            updatedCount += step
        }
    }

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
