import Foundation

// A child context saves into its parent: its changes become the parent's unsaved ones.

extension NSManagedObjectContext {
    // MARK: - Asking the parent

    /// Asks the parent on its queue, and takes along what it has come to call objects that are known here: so that nothing it
    /// tells becomes a second object of the same row.
    final func ask<Answer>(
        _ parent: NSManagedObjectContext, _ question: (NSManagedObjectContext) throws -> Answer
    ) rethrows -> Answer {
        let (answer, keys) = try parent.queue.sync { () throws in
            if let grandparent = parent.parentContext { parent.ask(grandparent) { _ in } }
            return (try question(parent), parent.givenKeys.dropFirst(learntKeyCount))
        }
        if !keys.isEmpty { learn(Array(keys)) }
        return answer
    }

    private func learn(_ pairs: [(temporary: Int64, permanent: ObjectKey)]) {
        learntKeyCount += pairs.count
        let keys = PermanentKeys(pairs)
        for object in registry.objects {
            if object.key.isTemporary {
                let permanent = keys.permanent(object.key)
                if !permanent.isTemporary { rename(object, permanent) }
            }
            resolveReferences(of: object, by: keys)
            for slot in object.layout.referenceSlots {
                guard let target = object.committed?[slot].referenceKey, target.isTemporary else { continue }
                object.committed?[slot] = .reference(keys.permanent(target))
            }
        }
    }

    // MARK: - Saving

    final func saveToParent() throws {
        guard let parentContext else { return }
        let changes = ContiguousArray(changed.lazy.filter(\.hasChanges))
        // Unsafe because the child waits: both contexts are held by this thread alone until the parent's queue is done.
        nonisolated(unsafe) let objects = changes
        parentContext.queue.sync { parentContext.takeChanges(of: objects) }
        adoptSavedByParent(changes)
    }

    /// Makes a child's changes this context's own.
    ///
    /// Each relationship is changed on both sides and against what this context has now: others may have changed it since the
    /// child has read it, and whoever gives way to the child's change need not have changed there.
    private func takeChanges(of objects: ContiguousArray<NSManagedObject>) {
        for object in objects where object.state.contains(.inserted) && !object.state.contains(.deleted) {
            takeInserted(object)
        }
        let pairs = objects.compactMap { object -> (object: NSManagedObject, own: NSManagedObject)? in
            guard !object.state.isSuperset(of: [.inserted, .deleted]) else { return nil }
            return counterpart(of: object.key).map { (object, $0) }
        }
        for (object, own) in pairs { takeValues(of: object, into: own) }
        // Who lets go comes first, so that nobody is taken from one who has let go.
        for (object, own) in pairs { takeReferences(of: object, into: own) { $0 == nil } }
        for (object, own) in pairs { takeReferences(of: object, into: own) { $0 != nil } }
        for (object, own) in pairs { takeMembers(of: object, into: own) }
        // What has left an object in the child before it was deleted there has left it here: delete rules do not follow it.
        for (object, own) in pairs where object.state.contains(.deleted) { delete(own) }
        processPendingChanges()
    }

    /// This context's object with a child's key; nil where it is there no more.
    private func counterpart(of key: ObjectKey) -> NSManagedObject? {
        let own = object(for: key)
        guard own.state.isDisjoint(with: [.deleted, .inaccessible]) else { return nil }
        return own.state.contains(.inserted) || (try? realise(own)) == true ? own : nil
    }

    private func takeInserted(_ object: NSManagedObject) {
        guard registeredObject(for: object.key) == nil else { return }
        let own = object.entity.managedObjectClass.init(entity: object.entity, insertInto: nil)
        own.key = object.key
        own.assignedStore = object.assignedStore
        own.values = object.layout.initialValues
        own.context = self
        own.state.formUnion([.inserted, .realised, .insertedInEvent, .listed, .changedInEvent, .updated])
        registry.register(own, as: own.key)
        insertedCount += 1
        changed.append(own)
        changedInEvent.append(own)
        undoRecorder.willChange(own, in: self)
    }

    private func takeValues(of object: NSManagedObject, into own: NSManagedObject) {
        recordChange(of: own)
        guard object.values != nil else { return }
        let values = object.isolated(object.currentValues())
        for slot in object.changedSlots() where object.layout.kinds[slot] != .toOne {
            own.setPrimitiveSlot(slot, to: values[slot])
        }
    }

    private func takeReferences(
        of object: NSManagedObject, into own: NSManagedObject, where isWanted: (ObjectKey?) -> Bool
    ) {
        guard object.values != nil else { return }
        for slot in object.layout.referenceSlots {
            let key = object.slotValue(slot).referenceKey
            guard isWanted(key), key != object.committedValue(slot).referenceKey else { continue }
            own.setReference(slot: slot, to: key.flatMap { counterpart(of: $0) })
        }
    }

    /// Takes the members that no reference of theirs tells of, and the order that members were put in.
    private func takeMembers(of object: NSManagedObject, into own: NSManagedObject) {
        for (index, state) in object.toMany.enumerated() {
            guard let state, state.isChanged else { continue }
            own.state.insert(.relationshipChanged)
            if case .slot = object.layout.links.toMany[index].inverse {
                // References have told.
            } else {
                let (added, removed) = state.differences()
                for member in removed.compactMap({ counterpart(of: $0) }) { own.removeMember(member, at: index) }
                for member in added.compactMap({ counterpart(of: $0) }) { own.addMember(member, at: index) }
            }
            guard object.layout.toMany[index].isOrdered, state.isLoaded else { continue }
            let order = ContiguousArray(state.members.keys.compactMap { counterpart(of: $0)?.key })
            _ = own.loadedToManyState(at: index).takeOrder(order)
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
        let listed = changed
        clearChanges()
        for object in listed { commit(object) }
        epoch += 1
        for object in objects { object.didSave() }
        var userInfo = event.userInfo()
        userInfo[NotificationKey.sourceContext.rawValue] = self
        post(.NSManagedObjectContextDidSave, userInfo)
        post(.NSManagedObjectContextDidSaveObjectIDs, event.objectIDUserInfo(of: rootCoordinator))
    }
}
