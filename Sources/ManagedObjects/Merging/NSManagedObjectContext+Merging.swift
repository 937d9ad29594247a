import Foundation

// Merging the saves of other contexts.

/// Changes of other contexts, by their objects' IDs.
struct UnmergedChanges {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []
}

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

    /// Merges changes, and releases the objects that only their notifications needed. If the store cannot be read, the context
    /// stays as it is, and the changes are merged with the next ones.
    private func merge(inserted: [NSManagedObjectID], updated: [NSManagedObjectID], deleted: [NSManagedObjectID]) {
        endEvent()
        unmergedChanges.inserted += inserted
        unmergedChanges.updated += updated
        unmergedChanges.deleted += deleted
        let changes = unmergedChanges
        var merge = Merge()
        do {
            try prepare(&merge, of: changes)
            if merge.changed.isEmpty, merge.deleted.isEmpty {
                try advanceGenerationForMerge()
                removePrefetchedRows()
            } else {
                try restoringOnError { _ in try perform(&merge) }
            }
        } catch {
            return noteFailedRead(
                error, "could not merge the changes of another context, which the next merge includes")
        }
        unmergedChanges = UnmergedChanges()
        post(merge, of: changes)
        let created = merge.created
        // The merge itself refers to the objects.
        merge = Merge()
        releaseUnreferenced(created)
    }

    /// Advances a pinned context to the newest state, which the merge then reads.
    private func advanceGenerationForMerge() throws {
        pinnedGenerations = try pinnedGenerations?.advanced(stores: coordinator?.rowStores ?? [])
    }

    /// A merge, from the objects that it concerns to its notifications.
    private struct Merge {
        var event = ObjectChanges()
        /// Registered objects whose rows are read again.
        var changed: [NSManagedObject] = []
        var deleted: [NSManagedObject] = []
        /// The keys of the objects that were registered for the notifications.
        var created: ContiguousArray<ObjectKey> = []
    }

    /// Collects the objects that a merge concerns. Objects are registered only if the notifications contain them.
    private func prepare(_ merge: inout Merge, of changes: UnmergedChanges) throws {
        for id in changes.inserted {
            guard let key = key(for: id) else { continue }
            // The object is registered already, and its row may have been missing before: the row is read again.
            if let registered = registeredObject(for: key) {
                merge.changed.append(registered)
            } else {
                merge.created.append(key)
            }
            merge.event.inserted.append(object(for: key))
        }
        for id in changes.updated {
            guard let key = key(for: id) else { continue }
            let isFollowed = followerCount.load(ordering: .relaxed) > 0
            if let object = registeredObject(for: key) {
                merge.changed.append(object)
                // A fault has no values that could change, so it is not refreshed, but it may be in followed fetched results.
                if isFollowed || !object.isFaultInternally { merge.event.refreshed.append(object) }
            } else if isFollowed {
                // The change may add the object to followed fetched results.
                merge.created.append(key)
                merge.event.refreshed.append(object(for: key))
            }
        }
        merge.deleted = changes.deleted.compactMap { id in key(for: id).flatMap { registeredObject(for: $0) } }
    }

    private func perform(_ merge: inout Merge) throws {
        try advanceGenerationForMerge()
        removePrefetchedRows()
        // An object whose row a merge policy has inserted again since is not deleted.
        let existing = try readAgain(merge.deleted.map(\.key))
        for object in merge.deleted where existing.contains(object.key) {
            merge.changed.append(object)
            merge.event.refreshed.append(object)
        }
        for object in merge.changed where object.flags.contains(.inaccessible) {
            restorePoint?.keep(object)
            object.state.becomeAccessible()
        }
        let refreshed = try mergeChanges(of: merge.changed)
        let listed = Set(merge.event.refreshed.map(ObjectIdentifier.init))
        merge.event.refreshed += refreshed.filter { !listed.contains(ObjectIdentifier($0)) }
        var gone: Set<ObjectKey> = []
        for object in merge.deleted where !existing.contains(object.key) && object.context === self {
            restorePoint?.keep(object)
            merge.event.deleted.append(object)
            gone.insert(object.key)
            cascadeToUnsavedMembers(of: object)
            dropChanges(of: object)
            _ = object.objectID
            registry.remove(object.key)
            object.state.leave(keeping: .realised)
            object.context = nil
        }
        removeReferences(to: gone)
        propagateDeletions()
    }

    private func post(_ merge: Merge, of changes: UnmergedChanges) {
        let updated = Set(changes.updated.filter { id in key(for: id).flatMap { registeredObject(for: $0) } != nil })
        guard !merge.event.isEmpty || !updated.isEmpty else { return }
        if !merge.event.isEmpty { post(.NSManagedObjectContextObjectsDidChange, merge.event.userInfo()) }
        var userInfo = merge.event.objectIDUserInfo(of: rootCoordinator)
        if !updated.isEmpty { userInfo[NSUpdatedObjectIDsKey] = updated }
        post(.NSManagedObjectContextDidMergeChangesObjectIDs, userInfo)
        mergedDeletions = merge.event.deleted
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
            let merge = { [weak self] in
                guard let self else { return }
                self.merge(inserted: inserted, updated: updated, deleted: deleted)
            }
            if mergesAtOnce { runAndWait(merge) } else { performHoldingAncestors(merge) }
        }
    }

    /// Whether the save that is being posted is one of the main thread, whose next statements see it in a context of the main queue. Not
    /// while this context works itself: its work has begun with the state before.
    private var mergesAtOnce: Bool {
        queue.type == .mainQueueConcurrencyType && queue.isCurrent && parentContext == nil && !isProcessing && !isSaving
            && failedReads == nil && restorePoint == nil
    }

    // MARK: - Conflicts

    /// Lets the next save check whether an object's row has changed since it was read.
    final func checkForConflict(_ object: NSManagedObject) {
        checkQueue()
        guard object.context === self, !object.isFaultInternally, !object.hasChanges else { return }
        recordChange(of: object)
        object.state.noteRelationshipChange()
    }
}
