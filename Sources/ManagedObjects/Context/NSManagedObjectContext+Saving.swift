import Foundation

// Saving: collect, validate, plan, write, commit. To a coordinator's stores, or to the parent context.

extension NSManagedObjectContext {
    /// Writes all unsaved changes; see ``save()``.
    final func saveChanges() throws {
        checkQueue()
        guard !isSaving else { return }
        guard hasUnsavedChanges || hasChangedMetadata else {
            endEvent()
            isSaving = true
            defer { isSaving = false }
            post(.NSManagedObjectContextWillSave, [:])
            // An observer may have changed objects.
            guard hasUnsavedChanges else {
                try saveNothing()
                mergedDeletions = []
                postDidSave(ObjectChanges(), sharing: nil)
                return
            }
            isSaving = false
            return try saveChanges()
        }
        guard parentContext != nil || coordinator != nil else {
            throw CocoaError(
                .persistentStoreSave,
                userInfo: [NSLocalizedDescriptionKey: "The context has no persistent store coordinator to save to."])
        }
        isSaving = true
        defer {
            isSaving = false
            eventInSave = nil
            transactionsOfSave = [:]
            postRefreshedBySave()
        }
        post(.NSManagedObjectContextWillSave, [:])
        endEvent()
        callWillSave()
        if validatesChanges { try validateChanges() }
        if parentContext != nil { try saveToParent() } else { try saveToStores() }
    }

    /// Calls `willSave` until it changes no further object.
    private func callWillSave() {
        let first = changed
        var unchanged = Set<ObjectIdentifier>()
        for object in first {
            if object.hasChanges { object.willSave() } else { unchanged.insert(ObjectIdentifier(object)) }
        }
        endEvent()
        // The common case: no further object has changed.
        if unchanged.isEmpty, changed.count == first.count, changed.last === first.last { return }
        var called = Set(first.lazy.map { ObjectIdentifier($0) }).subtracting(unchanged)
        // At most a thousand rounds, as in Core Data.
        for _ in 1..<1000 {
            let objects = changed.filter { $0.hasChanges && called.insert(ObjectIdentifier($0)).inserted }
            if objects.isEmpty { return }
            for object in objects { object.willSave() }
            endEvent()
        }
    }

    private func validateChanges() throws {
        var validation = Validation()
        for object in changed where object.hasChanges {
            do {
                if object.state.contains(.deleted) {
                    if !object.state.contains(.inserted) { try object.validateForDelete() }
                } else if object.state.contains(.inserted) {
                    try object.validateForInsert()
                } else {
                    try object.validateForUpdate()
                }
            } catch {
                validation.add(error)
            }
        }
        try validation.finish()
    }

    /// Whether a store has changed metadata that the next save writes.
    private var hasChangedMetadata: Bool {
        coordinator?.persistentStores.contains { $0.changedMetadata != nil } ?? false
    }

    // MARK: - To stores

    private func saveToStores() throws {
        try assignPermanentKeys(
            to: changed.lazy.filter { $0.state.contains(.inserted) && !$0.state.contains(.deleted) })
        // One transaction for each store: with several stores, an error in a later one leaves the earlier ones written.
        for store in rowStores {
            if let store = store.objectStore { try writeObjects(to: store) } else { try write(to: store) }
        }
        adoptSaved()
    }

    private func write(to store: any RowStore) throws {
        // Once for the first try, and once for each time that a merge policy has resolved conflicts.
        for _ in 0..<16 {
            SavePlanBuilder.numberMembers(of: changed, in: self, store: store.number)
            var builder = SavePlanBuilder(context: self, store: store.number)
            var plan = try builder.plan(for: changed)
            if enclosingTransaction == nil { plan.metadata = (store as? NSPersistentStore)?.changedMetadata }
            guard !plan.isEmpty else { return }
            do {
                let outcome = try planTarget(of: store).write(plan)
                for object in builder.updated { object.version += 1 }
                adopt(outcome.computed, of: store)
                if let number = outcome.transaction, let identifier = (store as? NSPersistentStore)?.identifier {
                    transactionsOfSave[identifier] = number
                }
                return
            } catch let conflicts as SaveConflicts {
                try resolve(conflicts, store: store)
            }
        }
        throw CocoaError.unresolvedConflicts
    }

    /// What the changes of a store are written to.
    final func planTarget(of store: any RowStore) -> any PlanTarget {
        if let enclosingTransaction, enclosingTransaction.number == store.number { return enclosingTransaction }
        return store
    }

    /// Sets the values that the store has computed, and notes their objects as refreshed: also those that are not
    /// registered, because other contexts may have read them.
    private func adopt(
        _ computed: [(entity: NSEntityDescription, key: Int64, slot: Int, value: Value)], of store: any RowStore
    ) {
        for (entity, number, slot, value) in computed {
            let key = ObjectKey(store: store.number, entity: UInt16(truncatingIfNeeded: entity.index), number: number)
            let object = object(for: key)
            if object.isFaultInternally {
                turnIntoFault(object)
                refreshedBySave.append(object)
            } else if object.adoptComputed(value, slot: slot) {
                refreshedBySave.append(object)
            }
        }
    }

    /// Makes the written values the committed values of the objects.
    private func adoptSaved() {
        noticeInPlaceChanges()
        var event = ObjectChanges()
        let listed = changed
        var unchanged = Set<ObjectIdentifier>()
        clearChanges()
        // One loop over all objects, because there may be more than fit the processor's cache.
        for object in listed {
            if !object.hasChanges {
                unchanged.insert(ObjectIdentifier(object))
            } else if object.state.contains(.deleted) {
                if !object.state.contains(.inserted) { event.deleted.append(object) }
            } else if object.state.contains(.inserted) {
                object.version = 1
                event.inserted.append(object)
            } else {
                event.updated.append(object)
            }
            commit(object)
        }
        if !refreshedBySave.isEmpty {
            let saved = Set(listed.lazy.map { ObjectIdentifier($0) })
            event.refreshed += refreshedBySave.filter { !saved.contains(ObjectIdentifier($0)) }
        }
        noteSaved(listed)
        epoch += 1
        rowsAhead.removeAll()
        advanceGeneration()
        for object in listed where unchanged.isEmpty || !unchanged.contains(ObjectIdentifier(object)) {
            object.didSave()
        }
        postDidSave(event, sharing: eventInSave)
    }

    /// Posts the notifications of a save. A pinned context's contain its query generation, which is that of the save. Where the
    /// store keeps a history they contain a token of the transaction, under the key that Apple's framework uses.
    final func postDidSave(
        _ event: ObjectChanges, sharing processed: (changes: ObjectChanges, userInfo: [AnyHashable: Any])?
    ) {
        var userInfo = event.userInfo(sharing: processed)
        userInfo[NotificationKey.sourceContext.rawValue] = self
        if let queryGenerationToken { userInfo[NotificationKey.queryGeneration.rawValue] = queryGenerationToken }
        if !transactionsOfSave.isEmpty { userInfo["newChangeToken"] = NSPersistentHistoryToken(transactionsOfSave) }
        post(.NSManagedObjectContextDidSave, userInfo)
        post(.NSManagedObjectContextDidSaveObjectIDs, event.objectIDUserInfo(of: rootCoordinator))
    }

    /// Makes the current values of an object its committed values.
    final func commit(_ object: NSManagedObject) {
        object.eventStart = nil
        if object.state.contains(.deleted) {
            if object.state.contains(.watched) { inPlaceValues.remove(object) }
            // The ID is created while the context is known: notifications and observers need it.
            _ = object.objectID
            registry.remove(object.key)
            object.state = [.gone, .realised]
            object.context = nil
            return
        }
        object.commitOwnValues()
        object.toMany.forEachMade { $0.commit() }
        object.state.subtract([
            .inserted, .updated, .listed, .changedInEvent, .insertedInEvent, .relationshipChanged,
        ])
    }
}

extension CocoaError {
    static var unresolvedConflicts: CocoaError {
        CocoaError(
            .managedObjectMerge,
            userInfo: [NSLocalizedDescriptionKey: "The merge policy did not resolve the save's conflicts."])
    }
}

extension ObjectChanges {
    /// The same as ``userInfo``, in object IDs.
    func objectIDUserInfo(of coordinator: NSPersistentStoreCoordinator?) -> [AnyHashable: Any] {
        var userInfo: [AnyHashable: Any] = [:]
        var maker = ObjectIDMaker(coordinator)
        for (key, objects) in [
            (NSInsertedObjectIDsKey, inserted), (NSUpdatedObjectIDsKey, updated), (NSDeletedObjectIDsKey, deleted),
            (NSRefreshedObjectIDsKey, refreshed),
        ] where !objects.isEmpty {
            // A loop, because a closure would check the access to the maker for each object.
            var ids = Set<NSManagedObjectID>.roomy(count: objects.count)
            for object in objects { ids.insert(object.objectID(by: &maker)) }
            userInfo[key] = ids
        }
        return userInfo
    }
}
