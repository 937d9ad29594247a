import Foundation

// A child context saves into its parent: its changes become the parent's unsaved ones.

extension NSManagedObjectContext {
    final func saveToParent() throws {
        guard let parentContext else { return }
        let changes = ContiguousArray(changed.lazy.filter(\.hasChanges))
        // Unsafe because the child waits: both contexts are held by this thread alone until the parent's queue is done.
        nonisolated(unsafe) let objects = changes
        parentContext.queue.sync { parentContext.takeChanges(of: objects) }
        adoptSavedByParent(changes)
    }

    /// Makes a child's changes this context's own.
    private func takeChanges(of objects: ContiguousArray<NSManagedObject>) {
        for object in objects where object.state.contains(.inserted) && !object.state.contains(.deleted) {
            takeInserted(object)
        }
        for object in objects where !object.state.contains(.deleted) {
            guard let own = registeredObject(for: object.key) ?? existing(object.key) else { continue }
            take(object, into: own)
        }
        for object in objects where object.state.contains(.deleted) && !object.state.contains(.inserted) {
            guard let own = registeredObject(for: object.key) ?? existing(object.key) else { continue }
            // What has left it in the child before it was deleted there has left it: delete rules shall not follow it here.
            take(object, into: own)
            delete(own)
        }
        processPendingChanges()
    }

    private func existing(_ key: ObjectKey) -> NSManagedObject? {
        let object = object(for: key)
        return (try? realise(object)) == true ? object : nil
    }

    private func takeInserted(_ object: NSManagedObject) {
        guard registeredObject(for: object.key) == nil else { return }
        let own = object.entity.managedObjectClass.init(entity: object.entity, insertInto: nil)
        own.key = object.key
        own.assignedStore = object.assignedStore
        own.values = object.isolated(object.currentValues())
        own.context = self
        own.state.formUnion([.inserted, .realised, .insertedInEvent, .listed, .changedInEvent, .updated])
        registry.register(own, as: own.key)
        insertedCount += 1
        changed.append(own)
        changedInEvent.append(own)
        undoRecorder.willChange(own, in: self)
    }

    /// Both sides of every relationship have changed in the child, so each object's own side is taken as it is.
    private func take(_ object: NSManagedObject, into own: NSManagedObject) {
        recordChange(of: own)
        if object.values != nil {
            let values = object.isolated(object.currentValues())
            for slot in object.changedSlots() { own.setPrimitiveSlot(slot, to: values[slot]) }
        }
        for (index, state) in object.toMany.enumerated() {
            guard let state, state.isChanged else { continue }
            own.state.insert(.relationshipChanged)
            if own.layout.toMany[index].isOrdered {
                own.loadedToManyState(at: index).replaceMembers(state.members.keys)
            } else {
                let (added, removed) = state.differences()
                let ownState = own.ensureToManyState(at: index)
                for key in removed { ownState.remove(key, keepsOrder: false) }
                for key in added { ownState.add(key) }
            }
        }
    }

    private func adoptSavedByParent(_ objects: ContiguousArray<NSManagedObject>) {
        var event = ObjectChanges()
        for object in objects {
            if object.state.contains(.deleted) {
                event.deleted.append(object)
            } else if object.state.contains(.inserted) {
                event.inserted.append(object)
            } else {
                event.updated.append(object)
            }
        }
        clearChanges()
        for object in objects { commit(object) }
        epoch += 1
        for object in objects { object.didSave() }
        var userInfo = event.userInfo
        userInfo[NotificationKey.sourceContext.rawValue] = self
        post(.NSManagedObjectContextDidSave, userInfo)
        post(.NSManagedObjectContextDidSaveObjectIDs, event.objectIDUserInfo)
    }
}
