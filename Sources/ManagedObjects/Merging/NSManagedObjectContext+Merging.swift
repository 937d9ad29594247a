import Foundation

// Merging the saves of other contexts.

extension NSManagedObjectContext {
    /// Merges the save of another context: changed rows are read again, unsaved changes of this context are kept.
    final func merge(_ notification: Notification) {
        checkQueue()
        guard let userInfo = notification.userInfo else { return }
        merge(
            inserted: Self.objectIDs(userInfo, NSInsertedObjectsKey, NSInsertedObjectIDsKey),
            updated: Self.objectIDs(userInfo, NSUpdatedObjectsKey, NSUpdatedObjectIDsKey)
                + Self.objectIDs(userInfo, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey),
            deleted: Self.objectIDs(userInfo, NSDeletedObjectsKey, NSDeletedObjectIDsKey))
    }

    /// Merges changes that were saved elsewhere into contexts.
    static func merge(_ changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]) {
        for context in contexts {
            // Unsafe because the caller waits until the block on the context's queue has read it.
            nonisolated(unsafe) let data = changeNotificationData
            context.performAndWait {
                func ids(_ keys: String...) -> [NSManagedObjectID] {
                    keys.flatMap { key in context.objectIDs(in: data[key]) }
                }
                context.merge(
                    inserted: ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey),
                    updated: ids(
                        NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey),
                    deleted: ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey))
            }
        }
    }

    private static func objectIDs(_ userInfo: [AnyHashable: Any], _ objects: String, _ ids: String)
        -> [NSManagedObjectID]
    {
        if let ids = userInfo[ids] as? Set<NSManagedObjectID> { return Array(ids) }
        guard let set = userInfo[objects] as? NSSet else { return [] }
        return set.allObjects.compactMap { ($0 as? NSManagedObject)?.objectID }
    }

    private func objectIDs(in value: Any?) -> [NSManagedObjectID] {
        let values: [Any]
        switch value {
        case let set as NSSet: values = set.allObjects
        case let array as [Any]: values = array
        default: return []
        }
        return values.compactMap { value in
            switch value {
            case let id as NSManagedObjectID: id
            case let object as NSManagedObject: object.objectID
            case let url as URL: rootCoordinator?.managedObjectID(forURIRepresentation: url)
            default: nil
            }
        }
    }

    /// Merges changes, and releases the objects that only their notifications needed.
    private func merge(inserted: [NSManagedObjectID], updated: [NSManagedObjectID], deleted: [NSManagedObjectID]) {
        endEvent()
        releaseUnreferenced(mergeChanges(inserted: inserted, updated: updated, deleted: deleted))
    }

    /// - Returns: The keys of the objects that were registered for the notifications.
    private func mergeChanges(
        inserted: [NSManagedObjectID], updated: [NSManagedObjectID], deleted: [NSManagedObjectID]
    ) -> ContiguousArray<ObjectKey> {
        advanceGeneration()
        removeRowsAhead()
        var event = ObjectChanges()
        var reread: [NSManagedObject] = []
        var made: ContiguousArray<ObjectKey> = []
        for id in inserted {
            guard let key = key(for: id) else { continue }
            // The object is registered already, and its row may have been missing before: the row is read again.
            if let known = registeredObject(for: key) {
                if known.state.contains(.inaccessible) { known.state.subtract([.inaccessible, .realised]) }
                reread.append(known)
            } else {
                made.append(key)
            }
            event.inserted.append(object(for: key))
        }
        for id in updated {
            guard let key = key(for: id) else { continue }
            if let object = registeredObject(for: key) {
                reread.append(object)
                event.refreshed.append(object)
            } else if followerCount.load(ordering: .relaxed) > 0 {
                // The change may add the object to followed fetched results.
                made.append(key)
                event.refreshed.append(object(for: key))
            }
        }
        let known = deleted.compactMap { id in key(for: id).flatMap { registeredObject(for: $0) } }
        // An object whose row a merge policy has inserted again since is not deleted.
        let there: Set<ObjectKey>
        do {
            there = try readAgain(known.map(\.key))
        } catch {
            report("could not read the changes of another context, which are not merged: \(error)")
            return made
        }
        for object in known where there.contains(object.key) {
            reread.append(object)
            event.refreshed.append(object)
        }
        guard let others = rebase(reread) else { return made }
        event.refreshed += others.filter { !updated.contains($0.objectID) }
        var gone: Set<ObjectKey> = []
        for object in known where !there.contains(object.key) && object.context === self {
            event.deleted.append(object)
            gone.insert(object.key)
            cascadeToUnsavedMembers(of: object)
            dropChanges(of: object)
            _ = object.objectID
            registry.remove(object.key)
            object.state = [.gone, .realised]
            object.context = nil
        }
        removeReferences(to: gone)
        propagateDeletions()
        guard !event.isEmpty else { return made }
        post(.NSManagedObjectContextObjectsDidChange, event.userInfo())
        var userInfo = event.objectIDUserInfo(of: rootCoordinator)
        let changed = Set(updated.filter { id in key(for: id).flatMap { registeredObject(for: $0) } != nil })
        if !changed.isEmpty { userInfo[NSUpdatedObjectIDsKey] = changed }
        post(.NSManagedObjectContextDidMergeChangesObjectIDs, userInfo)
        mergedDeletions = event.deleted
        return made
    }

    /// Applies the cascade rule to unsaved members of an object that was deleted elsewhere, which the other context
    /// could not delete.
    private func cascadeToUnsavedMembers(of object: NSManagedObject) {
        for (state, field) in zip(object.toMany, object.layout.toMany)
        where field.relationship.deleteRule == .cascadeDeleteRule {
            for key in state?.differences().added ?? [] { registeredObject(for: key).map(deleteObject) }
        }
    }

    /// Starts or stops observing saves of the parent, or of the coordinator's other contexts.
    final func observeParent() {
        if let parentObserver { NotificationCenter.default.removeObserver(parentObserver) }
        parentObserver = nil
        guard automaticallyMergesChangesFromParent || mergingCount > 0 else { return }
        parentObserver = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
        ) { [weak self] notification in
            guard let self, let source = notification.object as? NSManagedObjectContext, source !== self,
                parentContext.map({ source === $0 })
                    ?? (source.coordinator != nil && source.coordinator === coordinator)
            else { return }
            // Only object IDs are used, which are read on the saving context's queue before this returns.
            let userInfo = notification.userInfo ?? [:]
            let inserted = Self.objectIDs(userInfo, NSInsertedObjectsKey, NSInsertedObjectIDsKey)
            let updated =
                Self.objectIDs(userInfo, NSUpdatedObjectsKey, NSUpdatedObjectIDsKey)
                + Self.objectIDs(userInfo, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey)
            let deleted = Self.objectIDs(userInfo, NSDeletedObjectsKey, NSDeletedObjectIDsKey)
            performHoldingAncestors { [weak self] in
                self?.merge(inserted: inserted, updated: updated, deleted: deleted)
            }
        }
    }

    // MARK: - Conflicts

    /// Lets the next save check whether an object's row has changed since it was read.
    final func checkForConflict(_ object: NSManagedObject) {
        checkQueue()
        guard object.context === self, !object.isFaultInternally, !object.hasChanges else { return }
        recordChange(of: object)
        object.state.insert(.relationshipChanged)
    }
}
