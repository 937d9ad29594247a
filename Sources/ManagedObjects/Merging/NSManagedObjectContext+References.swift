import Foundation

// Relationships while others write the same rows: what is unsaved here and what the store has now shall not disagree
// about
// the two sides of one relationship.

extension NSManagedObjectContext {
    /// Puts the two sides of unsaved relationships right where the row of either was read anew: who the store has on
    /// the other
    /// side loses the object, who the object refers to has it. Deletions are carried on along what the rows say now.
    ///
    /// Cost: a look at every changed object, and the rows of other sides that are not at hand.
    final func reconcileReferences(afterReading keys: Set<ObjectKey>) {
        guard !keys.isEmpty else { return }
        for object in changed where object.hasChanges && !object.state.contains(.inserted) {
            reconcile(object, afterReading: keys)
            propagateAgain(object)
        }
        propagateDeletions()
    }

    private func reconcile(_ object: NSManagedObject, afterReading keys: Set<ObjectKey>) {
        func concerns(_ key: ObjectKey) -> Bool { keys.contains(key) || keys.contains(object.key) }
        for slot in object.layout.referenceSlots where object.values != nil {
            let (before, now) = (object.committedValue(slot), object.slotValue(slot))
            guard !now.isSame(as: before) else { continue }
            let link = object.layout.links.slots[slot]
            if case .reference(let key) = before, concerns(key) { leave(key, by: object, link) }
            if case .reference(let key) = now, concerns(key) { join(key, by: object, link) }
        }
        for (index, state) in object.toMany.enumerated() {
            guard let state, state.isChanged else { continue }
            let (added, removed) = state.differences()
            let link = object.layout.links.toMany[index]
            for key in removed where concerns(key) { leave(key, by: object, link) }
            for key in added where concerns(key) { join(key, by: object, link) }
        }
    }

    /// Takes an object's unsaved changes of relationships back on their other sides, before the object forgets them.
    final func withdrawReferences(of object: NSManagedObject) {
        for slot in object.layout.referenceSlots { withdrawReference(of: object, slot: slot) }
        for (index, state) in object.toMany.enumerated() {
            guard let state, state.isChanged else { continue }
            let (added, removed) = state.differences()
            let link = object.layout.links.toMany[index]
            for key in added { leave(key, by: object, link) }
            for key in removed { join(key, by: object, link) }
        }
    }

    /// The same for one unsaved reference.
    final func withdrawReference(of object: NSManagedObject, slot: Int) {
        let (before, now) = (object.committedValue(slot), object.slotValue(slot))
        guard object.values != nil, !now.isSame(as: before) else { return }
        let link = object.layout.links.slots[slot]
        if case .reference(let key) = now { leave(key, by: object, link) }
        if case .reference(let key) = before { join(key, by: object, link) }
    }

    /// Takes objects that are gone out of what is unsaved here.
    final func forgetReferences(to keys: Set<ObjectKey>) {
        guard !keys.isEmpty else { return }
        for object in changed where object.hasChanges && !object.state.contains(.deleted) {
            for slot in object.layout.referenceSlots where object.values != nil {
                if case .reference(let key) = object.slotValue(slot), keys.contains(key) {
                    object.setPrimitiveSlot(slot, to: .null)
                }
            }
            for case let state? in object.toMany where state.isChanged {
                for key in keys { state.forget(key) }
            }
        }
    }

    /// Applies the delete rules of an unsaved deletion once more: its row, and who refers to it, may have changed.
    private func propagateAgain(_ object: NSManagedObject) {
        guard object.state.contains(.deleted) else { return }
        object.toMany = []
        object.state.remove(.deletionPropagated)
        pendingDeletions.append(object)
    }

    /// Clears references to rows that are not there any more, in an object that is written as it is.
    final func forgetMissingTargets(of object: NSManagedObject, store: any RowStore) throws {
        guard object.values != nil, !object.state.contains(.deleted) else { return }
        for slot in object.layout.referenceSlots {
            guard case .reference(let key) = object.slotValue(slot), key.store == store.number else { continue }
            if let state = registeredObject(for: key)?.state {
                if state.contains(.inserted) { continue }
                guard !state.contains(.deleted) else {
                    object.setPrimitiveSlot(slot, to: .null)
                    continue
                }
            }
            if try store.rows(withKeys: [key.number], entity: entity(of: key), generation: nil).isEmpty {
                object.setPrimitiveSlot(slot, to: .null)
            }
        }
    }

    /// Notes who may be on the other sides of an object's relationships while a conflict is settled: what they hold
    /// is read
    /// again after the save, since they may not have been written themselves.
    final func noteOtherSides(of object: NSManagedObject) {
        for slot in object.layout.referenceSlots {
            let inverse = object.layout.links.slots[slot].inverse
            for case .reference(let key) in [object.committedValue(slot), object.slotValue(slot)] {
                otherSides.append((key, inverse))
            }
        }
        for (index, state) in object.toMany.enumerated() {
            guard let state else { continue }
            let inverse = object.layout.links.toMany[index].inverse
            let (added, removed) = state.differences()
            for key in added + removed { otherSides.append((key, inverse)) }
            otherSides.append((object.key, .toMany(index)))
        }
    }

    /// Lets go of what the noted other sides hold.
    final func refreshOtherSides() {
        for (key, end) in otherSides {
            guard let object = registeredObject(for: key), !object.hasChanges else { continue }
            switch end {
            case .none: break
            case .slot: turnIntoFault(object)
            case .toMany(let index): if index < object.toMany.count { object.toMany[index] = nil }
            }
        }
        otherSides = []
    }

    // MARK: - One side

    private func leave(_ key: ObjectKey, by object: NSManagedObject, _ link: RelationshipLinks.Link) {
        if let target = target(key), target.holds(object, by: link) { target.leaveInverse(of: object, by: link) }
    }

    private func join(_ key: ObjectKey, by object: NSManagedObject, _ link: RelationshipLinks.Link) {
        if let target = target(key), !target.holds(object, by: link) { target.joinInverse(of: object, by: link) }
    }

    /// The object with a key, if it is there.
    private func target(_ key: ObjectKey) -> NSManagedObject? {
        let target = object(for: key)
        if target.state.contains(.deleted) { return nil }
        return target.state.contains(.inserted) || (try? realise(target)) == true ? target : nil
    }
}

extension NSManagedObject {
    /// Whether this object's side of a relationship has another object.
    fileprivate final func holds(_ object: NSManagedObject, by link: RelationshipLinks.Link) -> Bool {
        switch link.inverse {
        case .none: false
        case .slot(let slot): slotValue(slot).isSame(as: .reference(object.key))
        case .toMany(let index): memberKeys(at: index).contains(object.key)
        }
    }
}

extension ToManyState {
    /// Takes a member that is gone out of what is unsaved.
    fileprivate func forget(_ key: ObjectKey) {
        if isLoaded { members.remove(key, keepsOrder: true) }
        committed?.removeAll { $0 == key }
        added.remove(key, keepsOrder: true)
        removed.remove(key, keepsOrder: true)
    }
}
