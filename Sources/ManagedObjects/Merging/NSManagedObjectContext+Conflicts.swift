import Foundation
import StoreSupport

// Converts the conflicts that a store reports to those that a merge policy resolves.

extension NSManagedObjectContext {
    /// Lets the merge policy resolve a save's conflicts; the save is then tried again.
    final func resolve(_ conflicts: SaveConflicts, store: any RowStore) throws {
        StoreObservation.report(.conflict, "", count: conflicts.stale.count + conflicts.taken.count)
        endEvent()
        // Everything read from here on is from the state that the save conflicts with.
        advanceGeneration()
        removePrefetchedRows()
        let policy = mergePolicy as? NSMergePolicy ?? .error
        var list: [Any] = []
        var objects: [NSManagedObject] = []
        for stale in conflicts.stale {
            let key = ObjectKey(
                store: store.number, entity: UInt16(truncatingIfNeeded: stale.entity), number: stale.key)
            guard let object = registeredObject(for: key) else { continue }
            let version = stale.current.map { $0.page.version(ofRow: $0.row) } ?? 0
            list.append(
                NSMergeConflict(
                    source: object, newVersion: Int(version), oldVersion: Int(stale.expectedVersion),
                    cachedSnapshot: object.committedValues().map { snapshot($0, of: object.layout) },
                    persistedSnapshot: stale.current.map { snapshot($0.page.values(row: $0.row), of: $0.page.layout) }))
            objects.append(object)
        }
        list += constraintConflicts(conflicts.taken, store: store)
        try policy.resolve(mergeConflicts: list)
        endEvent()
        // Another context may have added an object to a relationship with a deny rule of an object that the policy
        // deletes.
        guard validatesChanges else { return }
        for object in objects where object.context === self && object.flags.contains(.deleted) {
            try object.validateForDelete()
        }
    }

    private func constraintConflicts(_ taken: [SaveConflicts.Taken], store: any RowStore) -> [NSConstraintConflict] {
        // The rows of all holders at once: each would be read with others that are not needed. What cannot be read here is missing below.
        let unread = taken.map(\.holder).filter { registeredObject(for: $0)?.isFaultInternally != false }
        if unread.count > 1 { _ = try? readAgain(unread) }
        return taken.compactMap { taken in
            let key = ObjectKey(
                store: store.number, entity: UInt16(truncatingIfNeeded: taken.entity), number: taken.key)
            guard let object = registeredObject(for: key) else { return nil }
            let holder = self.object(for: taken.holder)
            let isStored = !holder.flags.contains(.inserted)
            func original(_ object: NSManagedObject) -> [String: Any] {
                snapshot(object.committedValues() ?? object.currentValues(), of: object.layout)
            }
            let conflicting = isStored ? [object] : [holder, object]
            return NSConstraintConflict(
                constraint: taken.constraint, database: isStored ? holder : nil,
                databaseSnapshot: isStored ? original(holder) : nil,
                conflicting: conflicting, conflictingSnapshots: conflicting.map(original))
        }
    }

    /// Attributes and to-one relationships by name, the latter as object IDs; `NSNull` for nil.
    final func snapshot(_ values: ContiguousArray<Value>, of layout: EntityLayout) -> [String: Any] {
        var result: [String: Any] = [:]
        for (slot, description) in layout.slots.enumerated() {
            guard let name = description.name else { continue }
            result[name] =
                values[slot].referenceKey.map { objectID(for: $0) } ?? values[slot].object(kind: description.kind)
                ?? NSNull()
        }
        return result
    }

    // MARK: - Built-in policies

    /// Applies unsaved changes of objects to their current rows, and calls `awake(fromSnapshotEvents:)` for those that
    /// have some. Objects without a row are left unchanged, unless the policy discards all changes: they then become faults.
    ///
    /// - Returns: Objects without changes that were read again with them.
    final func mergeChanges(
        of objects: [NSManagedObject], policy: NSMergePolicyType = .mergeByPropertyObjectTrumpMergePolicyType
    ) throws -> [NSManagedObject] {
        guard !objects.isEmpty else { return [] }
        var merge = ChangeMerge(self, policy: policy, isSettling: false)
        try merge.run(objects)
        for object in objects where object.context === self && object.hasChanges {
            object.awake(fromSnapshotEvents: .refresh)
        }
        return Array(merge.refreshed.values)
    }

    /// Posts a notification with the objects whose values a merge policy has changed.
    final func postRefreshedBySave() {
        let objects = refreshedBySave.filter { $0.context === self }
        refreshedBySave = []
        if !objects.isEmpty { post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: Set(objects)]) }
    }

    /// Discards an object's unsaved changes. It stays in the list of changed objects.
    final func removeChanges(of object: NSManagedObject) {
        restorePoint?.keep(object)
        if object.flags.contains(.watched) { inPlaceValues.remove(object) }
        change(object) { $0.discardChanges() }
        tracker.index.removeAll()
    }

    /// Discards an object's unsaved changes, and removes it from the lists of changed objects.
    final func dropChanges(of object: NSManagedObject) {
        removeChanges(of: object)
        unlist(object)
        guard object.flags.contains(.changedInEvent) else { return }
        object.state.leaveEvent()
        tracker.leavesEvent = true
        undoRecorder.discard(object)
    }

    /// Removes references to deleted objects from unsaved changes.
    final func removeReferences(to keys: Set<ObjectKey>) {
        guard !keys.isEmpty else { return }
        for object in changed where object.hasChanges && !object.flags.contains(.deleted) {
            restorePoint?.keep(object)
            for slot in object.layout.referenceSlots where object.values != nil {
                if let key = object.slotValue(slot).referenceKey, keys.contains(key) {
                    object.setPrimitiveSlot(slot, to: .null)
                }
            }
            for case let state? in object.toMany where state.isChanged { state.removeFromAll(keys) }
        }
    }

    /// Marks an object whose row is deleted as inserted, with the same key.
    final func reinsert(_ object: NSManagedObject) {
        restorePoint?.keep(object)
        let values = object.currentValues()
        change(object) { $0.reinsert(values) }
        tracker.index.removeAll()
    }

    /// Marks an inserted object whose row exists as updated.
    final func noteStored(_ object: NSManagedObject) {
        restorePoint?.keep(object)
        change(object) { $0.noteStored() }
    }

    /// Discards an unsaved object: an inserted one is deleted, so that references to it are cleared; of another one the
    /// changes are discarded.
    final func discard(_ object: NSManagedObject) {
        guard object.flags.contains(.inserted) else { return dropChanges(of: object) }
        deleteObject(object)
        propagateDeletions()
    }

    /// Moves an unsaved object's values and relationships to the stored object with the same unique values.
    final func move(_ object: NSManagedObject, into winner: NSManagedObject) {
        for (slot, description) in object.layout.slots.enumerated() where !description.isHidden {
            guard slot < winner.layout.slots.count, winner.layout.slots[slot].name == description.name else { continue }
            if description.kind == .toOne {
                guard let target = object.relatedObject(slot: slot) else { continue }
                object.setReference(slot: slot, to: nil)
                winner.setReference(slot: slot, to: target)
            } else {
                winner.setSlot(slot, to: object.slotValue(slot))
            }
        }
        for (index, field) in object.layout.toMany.enumerated()
        where index < winner.layout.toMany.count && winner.layout.toMany[index].name == field.name {
            for member in object.members(at: index) {
                object.removeMember(member, at: index)
                winner.addMember(member, at: index)
            }
        }
        deleteObject(object)
    }
}
