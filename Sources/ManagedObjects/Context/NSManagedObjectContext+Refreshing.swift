import Foundation

// Objects become faults, with and without their unsaved changes.

extension NSManagedObjectContext {
    /// Turns an object into a fault; with `mergeChanges` reads its row again and keeps unsaved changes.
    final func refreshObject(_ object: NSManagedObject, mergeChanges flag: Bool) {
        checkQueue()
        guard object.context === self else { return }
        guard !object.state.contains(.inserted) else { return refreshNew(object, mergeChanges: flag) }
        guard !object.key.isTemporary else { return }
        removeRowsAhead()
        object.noticeInPlaceChanges()
        if object.hasChanges {
            // Without merging, all changes are discarded, including those on the other side of relationships.
            let policy: NSMergePolicyType =
                flag ? .mergeByPropertyObjectTrumpMergePolicyType : .rollbackMergePolicyType
            do {
                _ = try restoringOnError { _ in try rebase([object], policy: policy) }
            } catch {
                return noteFailedRead(error, "could not refresh \(object.objectID)")
            }
            if !flag, !object.hasChanges { turnIntoFault(object) }
        } else if flag, !object.isFaultInternally {
            let before = ObjectContent(of: object)
            turnIntoFault(object)
            do {
                _ = try realise(object)
            } catch {
                before.restore(object)
                return noteFailedRead(error, "could not refresh \(object.objectID)")
            }
        } else {
            turnIntoFault(object)
        }
        post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: Set([object])])
    }

    /// A new object has no row: merging keeps all of its values; without merging it becomes a fault, which fires with the
    /// initial values, and loses its relationships. It stays inserted.
    private func refreshNew(_ object: NSManagedObject, mergeChanges flag: Bool) {
        guard !flag, !object.state.contains(.deleted) else { return }
        recordChange(of: object)
        do {
            try restoringOnError { _ in
                for slot in object.layout.referenceSlots { object.setReference(slot: slot, to: nil) }
                for field in object.layout.toMany.indices { try object.setMembers([], at: field) }
            }
        } catch {
            return noteFailedRead(error, "could not refresh \(object.objectID)")
        }
        object.willTurnIntoFault()
        if object.state.contains(.watched) { inPlaceValues.remove(object) }
        object.values = nil
        pendingIndex.removeAll()
        object.state.remove(.realised)
        object.didTurnIntoFault()
        post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: Set([object])])
    }

    /// Turns every object into a fault that keeps its unsaved changes.
    final func refreshRegisteredObjects() {
        checkQueue()
        removeRowsAhead()
        noticeInPlaceChanges()
        let objects = registry.objects.filter { !$0.state.contains(.inserted) }
        guard !objects.isEmpty else { return }
        do {
            _ = try restoringOnError { _ in try rebase(objects) }
        } catch {
            return noteFailedRead(error, "could not refresh \(objects.count) objects")
        }
        post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: objects.roomySet])
    }

    /// Discards the values of an object, including unsaved changes.
    final func turnIntoFault(_ object: NSManagedObject) {
        guard !object.state.contains(.inserted) else { return }
        // A fault that waits for its batch stays one.
        guard !object.isFaultInternally || object.hasChanges || object.page.map({ $0.fetched == nil }) == true else {
            // The members of a fault may be loaded already.
            object.toMany = []
            return
        }
        restorePoint?.keep(object)
        object.willTurnIntoFault()
        if object.state.contains(.watched) { inPlaceValues.remove(object) }
        if object.state.contains(.updated), !object.state.contains(.deleted) { updatedCount -= 1 }
        if object.state.contains(.changedInEvent) {
            changedInEvent.removeAll { $0 === object }
            undoRecorder.discard(object)
        }
        object.page = nil
        object.originSlot = -1
        object.values = nil
        object.committed = nil
        object.toMany = []
        object.eventStart = nil
        object.state.subtract([.realised, .updated, .changedInEvent, .relationshipChanged])
        if object.state.contains(.listed), !object.state.contains(.deleted) {
            unlist(object)
        }
        object.didTurnIntoFault()
    }

    /// Discards the values of an object that has no changes to save. Unsaved transient values are kept.
    final func letGo(of object: NSManagedObject) {
        guard object.state.contains(.listed) else { return turnIntoFault(object) }
        restorePoint?.keep(object)
        let values = object.values == nil ? nil : object.currentValues()
        removeChanges(of: object)
        object.page = nil
        object.originSlot = -1
        object.committed = nil
        object.state.remove(.realised)
        guard let values, hasRow(object) else { return }
        for (slot, description) in object.layout.slots.enumerated()
        where !description.isPersistent && !values[slot].isSame(as: description.initial) {
            object.setPrimitiveSlot(slot, to: values[slot])
        }
    }
}
