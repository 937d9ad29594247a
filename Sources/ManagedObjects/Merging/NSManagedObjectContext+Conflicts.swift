import Foundation

// From what a store refuses to what a merge policy settles.

extension NSManagedObjectContext {
    /// Asks the merge policy to settle a save's conflicts; the save is then tried again.
    final func settle(_ conflicts: SaveConflicts, store: any RowStore) throws {
        let policy = mergePolicy as? NSMergePolicy ?? .error
        var list: [Any] = []
        var objects: [NSManagedObject] = []
        for stale in conflicts.stale {
            let key = ObjectKey(
                store: store.number, entity: UInt16(truncatingIfNeeded: stale.entity.index), number: stale.key)
            guard let object = registeredObject(for: key) else { continue }
            let version = stale.current.map { $0.page.versions[$0.row] } ?? 0
            let conflict = NSMergeConflict(
                source: object, newVersion: Int(version), oldVersion: Int(stale.expectedVersion),
                cachedSnapshot: object.committedValues().map { snapshot($0, layout: object.layout) },
                persistedSnapshot: stale.current.map { snapshot($0.page.values(row: $0.row), layout: $0.page.layout) })
            conflict.current = stale.current
            list.append(conflict)
            objects.append(object)
        }
        list += constraintConflicts(conflicts.taken, store: store)
        for object in objects { noteOtherSides(of: object) }
        try policy.resolve(mergeConflicts: list)
        for object in objects where object.context === self {
            try forgetMissingTargets(of: object, store: store)
            noteOtherSides(of: object)
        }
        processPendingChanges()
        // Somebody may have put an object where a rule denies the deletion that the policy lets through.
        guard validatesChanges else { return }
        for object in objects where object.context === self && object.state.contains(.deleted) {
            try object.validateForDelete()
        }
    }

    private func constraintConflicts(_ taken: [SaveConflicts.Taken], store: any RowStore) -> [NSConstraintConflict] {
        taken.compactMap { taken in
            let key = ObjectKey(
                store: store.number, entity: UInt16(truncatingIfNeeded: taken.entity.index), number: taken.key)
            guard let object = registeredObject(for: key) else { return nil }
            let holder = self.object(for: taken.holder)
            let isStored = !holder.state.contains(.inserted)
            return NSConstraintConflict(
                constraint: taken.constraint, database: isStored ? holder : nil,
                databaseSnapshot: isStored ? holder.committedValues(forKeys: nil) : nil,
                conflicting: isStored ? [object] : [holder, object], conflictingSnapshots: [])
        }
    }

    /// A row as a dictionary: what it refers to by ID.
    private func snapshot(_ values: ContiguousArray<Value>, layout: EntityLayout) -> [String: Any] {
        var result: [String: Any] = [:]
        for (value, description) in zip(values, layout.slots) {
            guard let name = description.name else { continue }
            if case .reference(let key) = value {
                result[name] = objectID(for: key)
            } else {
                result[name] = value.object(kind: description.kind) ?? NSNull()
            }
        }
        return result
    }

    // MARK: - What the built-in policies do

    /// Forgets an object's unsaved changes.
    final func dropChanges(of object: NSManagedObject) {
        if object.state.contains(.watched) { inPlaceValues.forget(object) }
        if object.state.contains(.deleted) {
            deletedCount -= 1
        } else if object.state.contains(.updated), !object.state.contains(.inserted) {
            updatedCount -= 1
        }
        object.values = nil
        object.toMany = []
        object.eventStart = nil
        object.state.subtract([.updated, .deleted, .deletionPropagated, .relationshipChanged, .changedInEvent, .listed])
        changed.removeAll { $0 === object }
        changedInEvent.removeAll { $0 === object }
    }

    /// An object whose row is gone is inserted again, under its key.
    final func reinsert(_ object: NSManagedObject) {
        object.makeMutable()
        object.page = nil
        object.committed = nil
        if object.state.contains(.updated) { updatedCount -= 1 }
        insertedCount += 1
        object.state.formUnion([.inserted, .realised])
    }

    /// An unsaved object takes the place of nothing: it is forgotten, and with it what refers to it.
    final func discard(_ object: NSManagedObject) {
        guard object.state.contains(.inserted) else { return dropChanges(of: object) }
        delete(object)
        propagateDeletions()
    }

    /// Moves an unsaved object's values and relationships to the stored one that has its unique values.
    final func move(_ object: NSManagedObject, into winner: NSManagedObject) {
        for (slot, description) in object.layout.slots.enumerated() where !description.isHidden {
            guard slot < winner.layout.slots.count, winner.layout.slots[slot].name == description.name else { continue }
            if description.kind == .toOne {
                let target = object.relatedObject(slot: slot)
                if let target { winner.setReference(slot: slot, to: target) }
            } else {
                winner.setSlot(slot, to: object.slotValue(slot))
            }
        }
        for (index, place) in object.layout.toMany.enumerated()
        where index < winner.layout.toMany.count && winner.layout.toMany[index].name == place.name {
            for member in object.members(at: index) { winner.addMember(member, at: index) }
        }
        // Its members have gone over: only the object itself is forgotten.
        object.toMany = ContiguousArray(object.layout.toMany.map { _ in ToManyState(isLoaded: true) })
        for slot in object.layout.referenceSlots { object.setPrimitiveSlot(slot, to: .null) }
        delete(object)
    }
}
