import CoreDataErrors
import Foundation
import StoreSupport

// Saving: collect, validate, plan, write, commit. To a coordinator's stores, or to the parent context.

extension NSManagedObjectContext {
    /// Writes all unsaved changes; see ``save()``.
    ///
    /// The sequence: the event ends; `WillSave` is posted; the objects' `willSave` is called, and validation; the changes that
    /// these make end an event each; everything is written; the objects' `didSave` is called; `DidSave` is posted.
    final func saveChanges() throws {
        checkQueue()
        guard !isSaving else { return }
        isSaving = true
        defer {
            isSaving = false
            eventInSave = nil
            transactionsOfSave = [:]
            postRefreshedBySave()
        }
        // A value that cannot be read is an error, not nil: delete rules and validation may depend on it.
        guard try throwingFailedReads({ try prepareChanges() }) else {
            try saveNothing()
            mergedDeletions = []
            return postDidSave(ObjectChanges(), sharing: nil)
        }
        if parentContext != nil { try saveToParent() } else { try saveToStores() }
    }

    /// Ends the event, informs observers and objects, and validates.
    ///
    /// - Returns: Whether there is something to write.
    private func prepareChanges() throws -> Bool {
        endEvent()
        let needsStore = hasUnsavedChanges || hasChangedMetadata
        if needsStore { try requireDestination() }
        post(.NSManagedObjectContextWillSave, [:])
        // Observers may have changed objects.
        endEvent()
        guard hasUnsavedChanges || hasChangedMetadata else { return false }
        if !needsStore { try requireDestination() }
        try callWillSave()
        if validatesChanges { try validateChanges() }
        return true
    }

    private func requireDestination() throws {
        guard parentContext == nil, coordinator == nil else { return }
        throw CocoaError(
            .persistentStoreSave,
            userInfo: [NSLocalizedDescriptionKey: "The context has no persistent store coordinator to save to."])
    }

    /// Calls `willSave`, and again for each object that has changed since, until none has.
    private func callWillSave() throws {
        var objects = changed
        for _ in 0..<Self.roundLimit {
            for object in objects where object.hasChanges { object.willSave() }
            objects = endEvent()
            if objects.isEmpty { return }
        }
        throw Self.endlessChanges
    }

    /// How often objects may change in `willSave` or in validation, as in Core Data.
    private static let roundLimit = 1000

    private static var endlessChanges: CocoaError {
        CocoaError(
            .persistentStoreSave,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "Objects still change after \(roundLimit) calls of willSave or of their validation. These may only set what is "
                    + "not yet right, or primitive values."
            ])
    }

    /// Validates the changes, again as long as validation changes objects.
    private func validateChanges() throws {
        for _ in 0..<Self.roundLimit {
            var validation = Validation()
            for object in changed where object.hasChanges {
                do {
                    if object.flags.contains(.deleted) {
                        if !object.flags.contains(.inserted) { try object.validateForDelete() }
                    } else if object.flags.contains(.inserted) {
                        try object.validateForInsert()
                    } else {
                        try object.validateForUpdate()
                    }
                } catch {
                    validation.add(error)
                }
            }
            try validation.finish()
            if tracker.inEvent.isEmpty { return }
            endEvent()
        }
        throw Self.endlessChanges
    }

    /// Whether a store has changed metadata that the next save writes.
    private var hasChangedMetadata: Bool {
        coordinator?.persistentStores.contains { $0.changedMetadata != nil } ?? false
    }

    // MARK: - To stores

    private func saveToStores() throws {
        try requireNoSettling()
        let stores = rowStores
        // An object that no store can contain is an error before anything is written.
        if stores.count != 1 { try requireRelationshipsWithinStores(keyGroups(of: unsavedObjects)) }
        // One transaction for each store: an error in a later one leaves the earlier ones written.
        for (count, store) in stores.enumerated() {
            do {
                try write(to: store)
            } catch {
                // What is written is saved, and the next save writes the rest.
                if count > 0 { adoptSaved(in: Set(stores[..<count].map(\.number))) }
                throw error
            }
        }
        adoptSaved()
    }

    /// Checks that no changed relationship refers to an object of another store, whose key the row could not contain. Cost: a step for
    /// each reference and each added member of the changed objects.
    ///
    /// - Throws: `NSManagedObjectExternalRelationshipError` (133010).
    private func requireRelationshipsWithinStores(_ new: [KeyGroup]) throws {
        var stores: [ObjectKey: UInt16] = [:]
        for group in new { for object in group.objects { stores[object.key] = group.store.number } }
        for object in changed where object.hasChanges && !object.flags.contains(.deleted) {
            let store = stores[object.key] ?? object.key.store
            func require(_ targets: some Sequence<ObjectKey>, _ name: @autoclosure () -> String?) throws {
                for target in targets where ![store, 0].contains(stores[target] ?? target.store) {
                    throw CocoaError(
                        .managedObjectExternalRelationship,
                        userInfo: [
                            NSLocalizedDescriptionKey:
                                "The relationship “\(name() ?? "")” of \(object.objectID) refers to "
                                + "\(objectID(for: target)), an object of another store. Keep its ID as a value instead.",
                            NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: name() ?? "",
                        ])
                }
            }
            for slot in object.layout.referenceSlots where object.layout.slots[slot].isPersistent {
                try require(
                    CollectionOfOne(object.values?[slot]?.referenceKey).compactMap { $0 },
                    object.layout.slots[slot].name)
            }
            for (index, state) in object.toMany.enumerated() where object.layout.toMany[index].isPersistent {
                guard let state, state.isChanged else { continue }
                try require(state.differences().added, object.layout.toMany[index].name)
            }
        }
    }

    /// The objects that a save inserts.
    final var unsavedObjects: some Sequence<NSManagedObject> {
        changed.lazy.filter { $0.flags.contains(.inserted) && !$0.flags.contains(.deleted) }
    }

    /// The objects that a save inserts into a store, and that have no permanent keys yet.
    final func newObjects(of store: any RowStore) throws -> [KeyGroup] {
        try keyGroups(of: unsavedObjects).filter { $0.store.number == store.number }
    }

    private func write(to store: any RowStore) throws {
        if let objectStore = store.objectStore {
            try assignPermanentKeys(to: newObjects(of: store))
            return try writeObjects(to: objectStore)
        }
        let enclosing = saveTransaction.flatMap { $0.number == store.number ? $0 : nil }
        // Without conflicts, which are rare, it need not be checked in advance whether there are any.
        if enclosing == nil || isRefusingConflicts {
            do {
                return adopt(try writeUnchecked(to: store, within: enclosing), of: store)
            } catch let conflicts as SaveConflicts {
                if isRefusingConflicts { try refuse(conflicts, of: store) }
            }
        }
        if let enclosing {
            return adopt(try restoringOnError { _ in try settle(in: enclosing, of: store) }, of: store)
        }
        adopt(
            try settling { point in
                try inTransaction(of: store, restoring: point) { try settle(in: $0, of: store) }
            }, of: store)
    }

    /// Writes a save that fails if there are conflicts. The keys of new objects are reserved in the same transaction where that
    /// lets no other writer wait.
    private func writeUnchecked(
        to store: any RowStore, within enclosing: (any SaveTransaction)?
    ) throws -> WrittenSave {
        // The plan may move members of ordered relationships.
        try restoringOnError { point in
            let new = try newObjects(of: store)
            let metadata = enclosing == nil ? (store as? NSPersistentStore)?.changedMetadata : nil
            func write(to target: any PlanTarget) throws -> WrittenSave {
                try assignPermanentKeys(to: new)
                guard let written = try plan(for: store, metadata: metadata) else { return WrittenSave() }
                return WrittenSave(updated: written.updated, outcome: try target.write(written.plan))
            }
            if let enclosing { return try write(to: enclosing) }
            guard store.reservesKeysInTransaction, !new.isEmpty else { return try write(to: store) }
            return try inTransaction(of: store, restoring: point, write)
        }
    }

    /// Runs the work of a save in a transaction of a store, which may repeat it. If it fails, the context is as it was, and the
    /// keys that were reserved in the transaction are withdrawn.
    private func inTransaction<Result>(
        of store: any RowStore, restoring point: RestorePoint, _ work: (any SaveTransaction) throws -> Result
    ) throws -> Result {
        func restore() {
            point.restore()
            withdraw(keysOfTransaction ?? [])
            keysOfTransaction = []
        }
        defer { keysOfTransaction = nil }
        do {
            return try store.inSaveTransaction { transaction in
                restore()
                saveTransaction = transaction
                defer { saveTransaction = nil }
                return try queue.lending { try work(transaction) }
            }
        } catch {
            // The conflicts name new objects by their keys.
            defer { restore() }
            if isRefusingConflicts, let conflicts = error as? SaveConflicts { try refuse(conflicts, of: store) }
            throw error
        }
    }

    /// Lets a policy that resolves no conflict throw its error.
    private func refuse(_ conflicts: SaveConflicts, of store: any RowStore) throws {
        try resolve(conflicts, store: store)
        throw CocoaError.unresolvedConflicts
    }

    /// Whether the policy resolves no conflict.
    final var isRefusingConflicts: Bool {
        guard let policy = mergePolicy as? NSMergePolicy else { return true }
        return type(of: policy) == NSMergePolicy.self && policy.mergeType == .errorMergePolicyType
    }

    /// Runs work that resolves conflicts. Its reads see the state in which it writes, whatever the context is pinned to, and its
    /// notifications are posted afterwards, because their observers may wait for others that write. After an error the context is
    /// as it was, whatever a merge policy has changed.
    final func settling<Result>(_ work: (RestorePoint) throws -> Result) throws -> Result {
        endEvent()
        removePrefetchedRows()
        heldNotifications = []
        var held: [(name: Notification.Name, userInfo: [AnyHashable: Any])] = []
        defer {
            heldNotifications = nil
            for (name, userInfo) in held { post(name, userInfo) }
        }
        let pinned = pinnedGenerations
        pinnedGenerations = nil
        defer {
            pinnedGenerations = pinned
            advanceGeneration()
        }
        let result = try Self.settling.withValue(self) { try restoringOnError(work) }
        held = heldNotifications ?? []
        return result
    }

    /// The context that resolves conflicts on this thread.
    private static let settling = ThreadLocal<NSManagedObjectContext>()

    /// Refuses a save by a merge policy, which would wait for the transaction in which the policy is called.
    private func requireNoSettling() throws {
        guard let context = Self.settling.value, context !== self, context.coordinator === coordinator else { return }
        throw CocoaError(
            .persistentStoreSave,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "A merge policy cannot save another context while it resolves the conflicts of a save."
            ])
    }

    /// What a save has written to a store.
    private struct WrittenSave {
        var updated: ContiguousArray<NSManagedObject> = []
        var outcome = SaveOutcome()
    }

    /// Resolves the conflicts of a save, and writes it, in one transaction.
    private func settle(in transaction: any SaveTransaction, of store: any RowStore) throws -> WrittenSave {
        // Resolving a conflict may cause others, with rows that the save has not changed before.
        for _ in 0..<Self.settlingLimit {
            // A policy may insert objects.
            try assignPermanentKeys(to: newObjects(of: store))
            guard let written = try plan(for: store, metadata: nil) else { return WrittenSave() }
            let conflicts = try transaction.conflicts(of: written.plan)
            if conflicts.isEmpty {
                return WrittenSave(updated: written.updated, outcome: try transaction.write(written.plan))
            }
            try resolve(conflicts, store: store)
        }
        throw CocoaError.unresolvedConflicts
    }

    /// How often a policy resolves the conflicts of a save.
    static let settlingLimit = 16

    /// The plan of a save, with the objects whose rows it updates; nil if there is nothing to write.
    private func plan(
        for store: any RowStore, metadata: [String: Any]?
    ) throws -> (plan: SavePlan, updated: ContiguousArray<NSManagedObject>)? {
        try throwingFailedReads {
            SavePlanBuilder.numberMembers(of: changed, in: self, store: store.number)
            var builder = SavePlanBuilder(context: self, store: store)
            var plan = try builder.plan(for: changed)
            plan.metadata = metadata
            return plan.isEmpty ? nil : (plan, builder.updated)
        }
    }

    private func adopt(_ save: WrittenSave, of store: any RowStore) {
        for object in save.updated { object.state.noteWrite() }
        adopt(save.outcome.computed, of: store)
        if let number = save.outcome.transaction, let identifier = (store as? NSPersistentStore)?.identifier {
            transactionsOfSave[identifier] = number
        }
    }

    /// What assigns the keys of a store's new objects.
    final func planTarget(of store: any RowStore) -> any PlanTarget {
        if let saveTransaction, saveTransaction.number == store.number { return saveTransaction }
        return store
    }

    /// Sets the values that the store has computed, and notes their objects as refreshed: also those that are not
    /// registered, because other contexts may have read them.
    private func adopt(
        _ computed: [(entity: Int, key: Int64, slot: Int, value: Value)], of store: any RowStore
    ) {
        for (entity, number, slot, value) in computed {
            let key = ObjectKey(store: store.number, entity: UInt16(truncatingIfNeeded: entity), number: number)
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
    ///
    /// - Parameter stores: The numbers of the stores that were written; nil for all of them.
    private func adoptSaved(in stores: Set<UInt16>? = nil) {
        noticeInPlaceChanges()
        var event = ObjectChanges()
        let listed = takeSaved(in: stores)
        guard stores == nil || !listed.isEmpty else { return }
        var unchanged = Set<ObjectIdentifier>()
        // One loop over all objects, because there may be more than fit the processor's cache.
        for object in listed {
            if !object.hasChanges {
                unchanged.insert(ObjectIdentifier(object))
            } else if object.flags.contains(.deleted) {
                if !object.flags.contains(.inserted) { event.deleted.append(object) }
            } else if object.flags.contains(.inserted) {
                object.state.noteFirstVersion()
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
        prefetchedRows.removeAll()
        advanceGeneration()
        for object in listed where unchanged.isEmpty || !unchanged.contains(ObjectIdentifier(object)) {
            object.didSave()
        }
        postDidSave(event, sharing: eventInSave)
    }

    /// Clears the lists of changes, or removes the objects of some stores from them.
    private func takeSaved(in stores: Set<UInt16>?) -> ContiguousArray<NSManagedObject> {
        let all = changed
        guard let stores else {
            clearChanges()
            return all
        }
        let saved = ContiguousArray(all.lazy.filter { stores.contains($0.key.store) })
        tracker.remove { stores.contains($0.key.store) }
        tracker.inEvent.removeAll { stores.contains($0.key.store) }
        for object in saved { tracker.count(from: object.flags.change, to: .none) }
        return saved
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
        if object.flags.contains(.deleted) {
            if object.flags.contains(.watched) { inPlaceValues.remove(object) }
            // The ID is created while the context is known: notifications and observers need it.
            _ = object.objectID
            registry.remove(object.key)
            object.state.endEvent()
            object.state.leave(keeping: .realised)
            object.context = nil
            return
        }
        object.state.commit(initial: object.layout.initialValues)
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
