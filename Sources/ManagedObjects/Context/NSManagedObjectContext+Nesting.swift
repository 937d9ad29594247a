import Foundation

// A child context saves into its parent: its changes become unsaved changes of the parent.

extension NSManagedObjectContext {
    // MARK: - Queries to the parent

    /// Queries the parent on its queue, and adopts the permanent keys that the parent has assigned since, so that no
    /// row gets a second object here.
    final func query<Answer>(
        _ parent: NSManagedObjectContext, _ question: (NSManagedObjectContext) throws -> Answer
    ) rethrows -> Answer {
        let (answer, keys) = try parent.queue.sync { () throws in
            if let grandparent = parent.parentContext { parent.query(grandparent) { _ in } }
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
                guard let target = object.committed?[slot]?.referenceKey, target.isTemporary else { continue }
                object.setCommittedValue(slot, to: .reference(keys.permanent(target)))
            }
        }
    }

    // MARK: - Saving

    final func saveToParent() throws {
        guard let parentContext else { return }
        let changes = ContiguousArray(changed.lazy.filter(\.hasChanges))
        // Unsafe because the child waits: this thread has exclusive access to both contexts until the parent's queue is
        // done.
        nonisolated(unsafe) let objects = changes
        try parentContext.queue.sync { () throws in
            try parentContext.restoringOnError { _ in parentContext.takeChanges(of: objects) }
            parentContext.endEvent()
        }
        adoptSavedByParent(changes)
    }

    /// Applies a child's changes to this context.
    ///
    /// Each relationship is changed on both sides and against its current state here: it may have changed since the
    /// child read it, and objects that lose a reference need not have changed in the child.
    private func takeChanges(of objects: ContiguousArray<NSManagedObject>) {
        for object in objects where object.state.contains(.inserted) && !object.state.contains(.deleted) {
            takeInserted(object)
        }
        let pairs = objects.compactMap { object -> (object: NSManagedObject, own: NSManagedObject)? in
            guard !object.state.isSuperset(of: [.inserted, .deleted]) else { return nil }
            return counterpart(of: object.key).map { (object, $0) }
        }
        for (object, own) in pairs { takeValues(of: object, into: own) }
        // References that become nil are set first, so that no object is removed from an owner to which it no longer
        // belongs.
        for (object, own) in pairs { takeReferences(of: object, into: own) { $0 == nil } }
        for (object, own) in pairs { takeReferences(of: object, into: own) { $0 != nil } }
        for (object, own) in pairs { takeMembers(of: object, into: own) }
        // Objects that left a deleted object in the child before its deletion have left it here too, so delete rules do
        // not apply to them.
        for (object, own) in pairs where object.state.contains(.deleted) { deleteObject(own) }
        readForDeleteRules(of: pendingDeletions)
    }

    /// This context's object for a child's key; nil if it no longer exists.
    private func counterpart(of key: ObjectKey) -> NSManagedObject? {
        let own = object(for: key)
        guard own.state.isDisjoint(with: .removed) else { return nil }
        return own.state.contains(.inserted) || hasRow(own) ? own : nil
    }

    private func takeInserted(_ object: NSManagedObject) {
        guard registeredObject(for: object.key) == nil else { return }
        let own = object.entity.managedObjectClass.init(entity: object.entity, insertInto: nil)
        own.key = object.key
        restorePoint?.keepNew(own)
        own.assignedStore = object.assignedStore
        own.values = .complete(object.layout.initialValues)
        own.context = self
        own.state.formUnion([.inserted, .realised, .insertedInEvent, .changedInEvent, .updated])
        registry.register(own, as: own.key)
        insertedCount += 1
        list(own)
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

    /// Applies member changes that no reference of the members represents, and the order of members.
    private func takeMembers(of object: NSManagedObject, into own: NSManagedObject) {
        for (index, state) in object.toMany.enumerated() {
            guard let state, state.isChanged else { continue }
            own.state.insert(.relationshipChanged)
            if case .slot = object.layout.links.toMany[index].inverse {
                // The members' references were applied before.
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
        noteSaved(listed)
        for object in objects { object.didSave() }
        postDidSave(event, sharing: nil)
    }
}
