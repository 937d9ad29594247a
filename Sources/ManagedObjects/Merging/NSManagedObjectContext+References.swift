import Foundation

// Relationships while others write the same rows: what is unsaved here and what the store has now shall not disagree about
// the two sides of one relationship.

extension NSManagedObjectContext {
    /// Puts right the other sides of unsaved references of objects whose rows were read anew: who the row now refers to
    /// loses the object, who the object refers to has it. Cost: the rows of those that are not at hand.
    final func reconcileReferences(of objects: some Sequence<NSManagedObject>) {
        for object in objects where object.context === self && object.values != nil && !object.state.contains(.inserted)
        {
            for slot in object.layout.referenceSlots {
                let (before, now) = (object.committedValue(slot), object.slotValue(slot))
                guard !now.isSame(as: before) else { continue }
                let link = object.layout.links.slots[slot]
                if let target = target(before) { leave(target, by: object, link) }
                if let target = target(now) { join(target, by: object, link) }
            }
        }
    }

    /// Takes an object's unsaved changes of relationships back on their other sides, before the object forgets them.
    final func withdrawReferences(of object: NSManagedObject) {
        for slot in object.layout.referenceSlots { withdrawReference(of: object, slot: slot) }
        for (index, state) in object.toMany.enumerated() {
            guard let state, state.isChanged else { continue }
            let (added, removed) = state.differences()
            let link = object.layout.links.toMany[index]
            for key in added { leave(self.object(for: key), by: object, link) }
            for key in removed { join(self.object(for: key), by: object, link) }
        }
    }

    /// The same for one unsaved reference.
    final func withdrawReference(of object: NSManagedObject, slot: Int) {
        let (before, now) = (object.committedValue(slot), object.slotValue(slot))
        guard object.values != nil, !now.isSame(as: before) else { return }
        let link = object.layout.links.slots[slot]
        if let target = target(now) { leave(target, by: object, link) }
        if let target = target(before) { join(target, by: object, link) }
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
    final func propagateAgain(_ object: NSManagedObject) {
        guard object.state.contains(.deleted) else { return }
        object.toMany = []
        object.state.remove(.deletionPropagated)
        pendingDeletions.append(object)
    }

    // MARK: - One side

    private func target(_ value: Value) -> NSManagedObject? {
        guard case .reference(let key) = value else { return nil }
        let target = object(for: key)
        guard !target.state.contains(.deleted), target.state.contains(.inserted) || (try? realise(target)) == true
        else {
            return nil
        }
        return target
    }

    private func leave(_ target: NSManagedObject, by object: NSManagedObject, _ link: RelationshipLinks.Link) {
        if !target.state.contains(.deleted), target.holds(object, by: link) {
            target.leaveInverse(of: object, by: link)
        }
    }

    private func join(_ target: NSManagedObject, by object: NSManagedObject, _ link: RelationshipLinks.Link) {
        if !target.state.contains(.deleted), !target.holds(object, by: link) {
            target.joinInverse(of: object, by: link)
        }
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
