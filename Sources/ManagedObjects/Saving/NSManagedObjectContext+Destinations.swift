import Foundation

// MARK: - The parent context

// A child context saves into its parent: its changes become unsaved changes of the parent.

extension NSManagedObjectContext {
    // MARK: - Queries to the parent

    /// Queries the parent on its queue, and adopts the permanent keys that the parent has assigned since, so that no
    /// row gets a second object here.
    final func query<Answer>(
        _ parent: NSManagedObjectContext, _ question: (NSManagedObjectContext) throws -> Answer
    ) rethrows -> Answer {
        let (answer, keys) = try parent.queue.sync { () throws in
            if let grandparent = parent.parentContext { parent.query(grandparent) { _ in } }
            return (try question(parent), parent.givenKeys.dropFirst(learntKeyCount))
        }
        if !keys.isEmpty { learn(Array(keys)) }
        return answer
    }

    private func learn(_ pairs: [(temporary: Int64, permanent: ObjectKey)]) {
        learntKeyCount += pairs.count
        let keys = PermanentKeys(pairs)
        for object in registry.objects {
            if object.key.isTemporary {
                let permanent = keys.permanent(object.key)
                if !permanent.isTemporary { rename(object, permanent) }
            }
            resolveReferences(of: object, by: keys)
            for slot in object.layout.referenceSlots {
                guard let target = object.committed?[slot]?.referenceKey, target.isTemporary else { continue }
                object.setCommittedValue(slot, to: .reference(keys.permanent(target)))
            }
        }
    }

    // MARK: - Saving

    final func saveToParent() throws {
        guard let parentContext else { return }
        let changes = ContiguousArray(changed.lazy.filter(\.hasChanges))
        // Unsafe because the child waits: this thread has exclusive access to both contexts until the parent's queue is
        // done.
        nonisolated(unsafe) let objects = changes
        try parentContext.queue.sync { () throws in
            try parentContext.restoringOnError { _ in parentContext.takeChanges(of: objects) }
            parentContext.endEvent()
        }
        adoptSavedByParent(changes)
    }

    /// Applies a child's changes to this context.
    ///
    /// Each relationship is changed on both sides and against its current state here: it may have changed since the
    /// child read it, and objects that lose a reference need not have changed in the child.
    private func takeChanges(of objects: ContiguousArray<NSManagedObject>) {
        for object in objects where object.flags.contains(.inserted) && !object.flags.contains(.deleted) {
            takeInserted(object)
        }
        let pairs = objects.compactMap { object -> (object: NSManagedObject, own: NSManagedObject)? in
            guard !object.flags.isSuperset(of: [.inserted, .deleted]) else { return nil }
            return counterpart(of: object.key).map { (object, $0) }
        }
        for (object, own) in pairs { takeValues(of: object, into: own) }
        // References that become nil are set first, so that no object is removed from an owner to which it no longer
        // belongs.
        for (object, own) in pairs { takeReferences(of: object, into: own) { $0 == nil } }
        for (object, own) in pairs { takeReferences(of: object, into: own) { $0 != nil } }
        for (object, own) in pairs { takeMembers(of: object, into: own) }
        // Objects that left a deleted object in the child before its deletion have left it here too, so delete rules do
        // not apply to them.
        for (object, own) in pairs where object.flags.contains(.deleted) { deleteObject(own) }
        readForDeleteRules(of: tracker.deletionsInEvent)
    }

    /// This context's object for a child's key; nil if it no longer exists.
    private func counterpart(of key: ObjectKey) -> NSManagedObject? {
        let own = object(for: key)
        guard own.flags.isDisjoint(with: .removed) else { return nil }
        return own.flags.contains(.inserted) || hasRow(own) ? own : nil
    }

    private func takeInserted(_ object: NSManagedObject) {
        guard registeredObject(for: object.key) == nil else { return }
        let own = object.entity.managedObjectClass.init(entity: object.entity, insertInto: nil)
        own.key = object.key
        restorePoint?.keepNew(own)
        own.assignedStore = object.assignedStore
        change(own) { state in
            state.insert(initial: object.layout.initialValues)
            state.joinEvent()
            state.noteUpdate()
        }
        own.context = self
        registry.register(own, as: own.key)
        list(own)
        tracker.inEvent.append(own)
        undoRecorder.willChange(own, in: self)
    }

    private func takeValues(of object: NSManagedObject, into own: NSManagedObject) {
        recordChange(of: own)
        guard object.values != nil else { return }
        let values = object.isolated(object.currentValues())
        for slot in object.changedSlots() where object.layout.kinds[slot] != .toOne {
            own.setPrimitiveSlot(slot, to: values[slot])
        }
    }

    private func takeReferences(
        of object: NSManagedObject, into own: NSManagedObject, where isWanted: (ObjectKey?) -> Bool
    ) {
        guard object.values != nil else { return }
        for slot in object.layout.referenceSlots {
            let key = object.slotValue(slot).referenceKey
            guard isWanted(key), key != object.committedValue(slot).referenceKey else { continue }
            own.setReference(slot: slot, to: key.flatMap { counterpart(of: $0) })
        }
    }

    /// Applies member changes that no reference of the members represents, and the order of members.
    private func takeMembers(of object: NSManagedObject, into own: NSManagedObject) {
        for (index, state) in object.toMany.enumerated() {
            guard let state, state.isChanged else { continue }
            own.state.noteRelationshipChange()
            if case .slot = object.layout.links.toMany[index].inverse {
                // The members' references were applied before.
            } else {
                let (added, removed) = state.differences()
                for member in removed.compactMap({ counterpart(of: $0) }) { own.removeMember(member, at: index) }
                for member in added.compactMap({ counterpart(of: $0) }) { own.addMember(member, at: index) }
            }
            guard object.layout.toMany[index].isOrdered, state.isLoaded else { continue }
            let order = ContiguousArray(state.members.keys.compactMap { counterpart(of: $0)?.key })
            _ = own.loadedToManyState(at: index).takeOrder(order)
        }
    }

    private func adoptSavedByParent(_ objects: ContiguousArray<NSManagedObject>) {
        var event = ObjectChanges()
        for object in objects {
            if object.flags.contains(.deleted) {
                event.deleted.append(object)
            } else if object.flags.contains(.inserted) {
                event.inserted.append(object)
            } else {
                event.updated.append(object)
            }
        }
        let listed = changed
        clearChanges()
        for object in listed { commit(object) }
        epoch += 1
        noteSaved(listed)
        for object in objects { object.didSave() }
        postDidSave(event, sharing: nil)
    }
}

// MARK: - Stores that receive objects

// The stores of the context's coordinator, as this context accesses them.

extension NSManagedObjectContext {
    /// The stores, in the order in which they were added.
    final var rowStores: [any RowStore] { coordinator?.entries.map { $0.rows.answering(self) } ?? [] }

    /// The store with a number; nil when there is none or it was removed.
    @inline(__always)
    final func rowStore(number: UInt16) -> (any RowStore)? { coordinator?.store(number: number)?.answering(self) }

    /// The adapter between this context and an incremental store; created on first use.
    final func rows(of store: NSIncrementalStore) -> IncrementalStoreRows {
        if let rows = incrementalStores.first(where: { $0.store === store }) { return rows }
        let rows = IncrementalStoreRows(store, context: self)
        incrementalStores.removeAll { $0.store.persistentStoreCoordinator == nil }
        incrementalStores.append(rows)
        return rows
    }

    /// Notifies incremental stores that the context has released objects.
    final func notifyStores(ofReleased keys: [ObjectKey]) {
        for rows in incrementalStores { rows.unregister(keys.filter { $0.store == rows.number }) }
    }

    // MARK: - Stores whose classes programs write

    /// The objects that an incremental store returns: faults, unless they are registered already or the request includes
    /// property values.
    final func objects(
        of store: IncrementalStoreRows, matching query: RowQuery, specification: FetchSpecification
    ) throws -> [NSManagedObject] {
        let found = try store.objects(matching: query)
        for object in found {
            if specification.shouldRefreshRefetchedObjects, !object.hasChanges { turnIntoFault(object) }
            if !specification.returnsObjectsAsFaults { realiseAsRead(object) }
        }
        return found
    }

    /// Calls incremental stores for a save without changes too.
    final func saveNothing() throws {
        guard parentContext == nil else { return }
        for case let store as IncrementalStoreRows in rowStores { try store.write(StoreChanges(), in: self) }
    }

    final func writeObjects(to store: any ObjectStore) throws {
        do {
            try writeOnce(to: store)
        } catch let conflicts as SaveConflicts {
            if isRefusingConflicts {
                try resolve(conflicts, store: store)
                throw CocoaError.unresolvedConflicts
            }
            try settling { _ in try store.excludingWriters { try settle(store) } }
        }
    }

    /// Writes the changes; with conflicts nothing.
    private func writeOnce(to store: any ObjectStore) throws {
        var changes = StoreChanges(changed, store: store)
        changes.changesMetadata = metadataStore(of: store)?.changedMetadata != nil
        guard !changes.isEmpty || store is IncrementalStoreRows else { return }
        try store.write(changes, in: self)
        for object in changes.updated { object.state.noteWrite() }
    }

    private func settle(_ store: any ObjectStore) throws {
        for _ in 0..<Self.settlingLimit {
            try assignPermanentKeys(to: newObjects(of: store))
            do {
                return try writeOnce(to: store)
            } catch let conflicts as SaveConflicts {
                try resolve(conflicts, store: store)
            }
        }
        throw CocoaError.unresolvedConflicts
    }

    private func metadataStore(of store: any RowStore) -> NSPersistentStore? {
        store as? NSPersistentStore ?? (store as? IncrementalStoreRows)?.store
    }
}

// MARK: - Work in a transaction

extension NSManagedObjectContext {
    /// Calls a closure with a new context whose reads and saves are parts of one write transaction of a store: no other process can
    /// save between a read and a save of the closure.
    ///
    /// The new context has no queue, and is used on the caller's thread only. It has the name and the author of this context, which
    /// is not changed itself. Its notifications are posted after the commit. The closure must not save other contexts, which would
    /// wait for the transaction. It is called again, with another context, if the server has ended the transaction because of
    /// concurrent ones.
    ///
    /// - Returns: Nil, without calling the closure, if the store is not a writable SQL store of this package.
    /// - Throws: The closure's error, which rolls the transaction back, and errors of the store.
    package func inWriteTransaction<Result>(
        of store: NSPersistentStore, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result? {
        guard let coordinator, !store.isReadOnly, store.persistentStoreCoordinator === coordinator,
            let database = store as? any DatabaseStore
        else { return nil }
        let (result, own, notifications) = try database.inSaveTransaction { transaction in
            try transaction.excludeOtherWriters()
            let own = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            own.persistentStoreCoordinator = coordinator
            own.undoManager = nil
            own.name = name
            own.transactionAuthor = transactionAuthor
            own.saveTransaction = transaction
            own.heldNotifications = []
            defer {
                own.saveTransaction = nil
                own.heldNotifications = nil
            }
            return (try body(own), own, own.heldNotifications ?? [])
        }
        for (name, userInfo) in notifications { own.post(name, userInfo) }
        return result
    }
}
