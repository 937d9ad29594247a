import Foundation

// Deletion: objects are marked immediately, delete rules applied at the end of the event or by the next save, and rows
// deleted by the next save.

extension NSManagedObjectContext {
    /// Marks an object of this context for deletion, unless it is marked.
    final func deleteObject(_ object: NSManagedObject) {
        checkQueue()
        guard object.context === self, !object.state.contains(.deleted) else { return }
        markDeleted(object)
    }

    private func markDeleted(_ object: NSManagedObject) {
        guard object.isRead else { return }
        object.prepareForDeletion()
        recordChange(of: object)
        // An inaccessible object has no row to delete.
        guard !object.state.contains(.inaccessible) else { return }
        if object.state.contains(.inserted) {
            insertedCount -= 1
        } else {
            updatedCount -= 1
            deletedCount += 1
        }
        object.state.insert(.deleted)
        pendingDeletions.append(object)
    }

    final func undelete(_ object: NSManagedObject) {
        restorePoint?.keep(object)
        object.state.subtract([.deleted, .deletionPropagated])
        if object.state.contains(.inserted) {
            insertedCount += 1
        } else {
            deletedCount -= 1
            updatedCount += 1
        }
    }

    /// Applies delete rules to all marked objects, and to those marked in the process. Uses a work list, so that a
    /// chain of any length can be deleted.
    ///
    /// Everything that the rules need is read first: if the store cannot be read, no rule is applied yet, and the next call
    /// tries again.
    final func propagateDeletions() {
        guard !pendingDeletions.isEmpty else { return }
        do {
            try throwingFailedReads {
                readForDeleteRules(of: pendingDeletions.lazy.filter { $0.state.contains(.deleted) })
            }
        } catch {
            return noteFailedRead(error, "could not apply the delete rules of \(pendingDeletions.count) objects yet")
        }
        while !pendingDeletions.isEmpty {
            let objects = pendingDeletions
            pendingDeletions = []
            for object in objects where object.state.contains(.deleted) && !object.state.contains(.deletionPropagated) {
                object.state.insert(.deletionPropagated)
                applyDeleteRules(of: object)
            }
        }
    }

    /// Reads the objects that the delete rules of objects change, and those of the objects that they cascade to.
    final func readForDeleteRules(of objects: some Sequence<NSManagedObject>) {
        var waiting = objects.filter { !$0.state.contains(.deletionPropagated) }
        var seen = Set(waiting.map(ObjectIdentifier.init))
        func read(_ members: some Sequence<NSManagedObject>, _ rule: NSDeleteRule) {
            guard rule == .cascadeDeleteRule || rule == .nullifyDeleteRule else { return }
            for member in members {
                guard member.isRead, rule == .cascadeDeleteRule, !member.state.contains(.deleted),
                    seen.insert(ObjectIdentifier(member)).inserted
                else { continue }
                waiting.append(member)
            }
        }
        var position = 0
        while position < waiting.count {
            let object = waiting[position]
            position += 1
            for (index, field) in object.layout.toMany.enumerated() {
                object.withMembers(at: index) { read($0, field.relationship.deleteRule) }
            }
            for (slot, description) in object.layout.slots.enumerated() where description.kind == .toOne {
                guard let relationship = description.property as? NSRelationshipDescription,
                    let target = object.relatedObject(slot: slot)
                else { continue }
                read([target], description.isHidden ? .nullifyDeleteRule : relationship.deleteRule)
            }
        }
    }

    private func applyDeleteRules(of object: NSManagedObject) {
        for (index, field) in object.layout.toMany.enumerated() {
            applyRule(field.relationship.deleteRule, members: object.members(at: index)) { members in
                for member in members { object.removeMember(member, at: index) }
            }
        }
        for (slot, description) in object.layout.slots.enumerated() where description.kind == .toOne {
            guard let relationship = description.property as? NSRelationshipDescription,
                let target = object.relatedObject(slot: slot)
            else { continue }
            if description.isHidden {
                // The owner of a one-way to-many loses a member, whatever its own delete rule is.
                object.setReference(slot: slot, to: nil)
                continue
            }
            applyRule(relationship.deleteRule, members: [target]) { _ in object.setReference(slot: slot, to: nil) }
        }
    }

    private func applyRule(
        _ rule: NSDeleteRule, members: [NSManagedObject], disconnect: ([NSManagedObject]) -> Void
    ) {
        switch rule {
        case .cascadeDeleteRule:
            for member in members where !member.state.contains(.deleted) { markDeleted(member) }
            disconnect(members)
        case .nullifyDeleteRule:
            disconnect(members)
        default:
            // "No action" leaves the other side unchanged; "deny" is checked by the validation before the save.
            break
        }
    }
}
