import Foundation

// Reading the rows and members of faults.

extension NSManagedObjectContext {
    /// Realises a fault whose values are needed. If it has no row, `shouldDeleteInaccessibleFaults` determines whether
    /// it becomes a deleted object without values or the program stops. If the store cannot be read, it stays a fault.
    final func fire(_ object: NSManagedObject) {
        checkQueue()
        do {
            if try realise(object) { return }
        } catch {
            return noteFailedRead(error, "could not fulfill a fault for \(object.objectID)")
        }
        let handled = shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: nil)
        precondition(handled, "Core Data could not fulfill a fault for \(object.objectID).")
        object.state.becomeInaccessible(slots: object.layout.slots.count, relationships: object.layout.toMany.count)
    }

    final func removeInaccessible(_ object: NSManagedObject) {
        restorePoint?.keep(object)
        registry.remove(object.key)
        object.context = nil
        object.state.leave()
    }

    /// Gives a fault its row: without a statement if the row is already read, else with one for a batch of faults.
    ///
    /// - Returns: False when the row does not exist.
    package final func realise(_ object: NSManagedObject) throws -> Bool {
        guard object.isFaultInternally else { return true }
        if object.flags.contains(.inserted) {
            object.state.realise(with: object.layout.initialValues)
            return true
        }
        if object.page == nil || object.originSlot >= 0 {
            if object.committed != nil {
                object.state.realise()
                return true
            }
            guard try findRow(of: object) else { return false }
        } else if stalenessInterval >= 0, let page = object.page, isStale(page) {
            guard try findRow(of: object) else { return false }
        }
        // The fault may have been realised with its batch.
        guard object.isFaultInternally else { return true }
        object.becomeRealised()
        object.awakeFromFetch()
        return true
    }

    /// Whether an object has a row, which it gets if it is a fault. An error is noted; then it is unknown, and false.
    final func hasRow(_ object: NSManagedObject) -> Bool {
        do {
            return try realise(object)
        } catch {
            noteFailedRead(error, "could not read \(object.objectID)")
            return false
        }
    }

    /// Realises an object whose row has just been read, regardless of the staleness interval.
    final func realiseAsRead(_ object: NSManagedObject) {
        guard object.isFaultInternally, object.page != nil, object.originSlot < 0 else { return object.realise() }
        object.becomeRealised()
        object.awakeFromFetch()
    }

    /// Whether rows are older than the context's staleness interval allows.
    private func isStale(_ page: RowPage) -> Bool {
        oldestReading.map { page.readAt < $0 } ?? false
    }

    /// The earliest permitted time of reading; nil if the age does not matter.
    final var oldestReading: ReadingTime? {
        stalenessInterval < 0 ? nil : ReadingTime.now - stalenessInterval
    }

    private func findRow(of object: NSManagedObject) throws -> Bool {
        if let parentContext { return try findValues(of: object, in: parentContext) }
        if let (page, row) = prefetchedRows.row(for: object.key), !isStale(page) {
            adopt(page, row: row, by: object)
            return true
        }
        if let origin = object.page, let fetched = origin.fetched {
            try readBatch(of: object, fetched, origin: origin)
            return object.page !== origin
        }
        guard !object.key.isTemporary, let store = rowStore(number: object.key.store) else { return false }
        let keys = store.readsRowsTogether ? faultBatch(around: object, from: store) : [object.key]
        let pages = try rows(keys, like: object, from: store)
        if keys.count == 1, let page = pages.first, page.count == 1 {
            adopt(page, row: 0, by: object)
            return true
        }
        for page in pages { prefetchedRows.add(page) }
        for key in keys.dropFirst() {
            // Other faults of the batch get their rows now, so that the rows are not read again.
            guard let other = registry.object(for: key), other.page == nil, other.isFaultInternally,
                let (page, row) = prefetchedRows.row(for: key)
            else { continue }
            adopt(page, row: row, by: other)
        }
        guard let (page, row) = prefetchedRows.row(for: object.key) else { return false }
        adopt(page, row: row, by: object)
        return true
    }

    /// A child context copies the current values of its parent, including unsaved ones, but not those of transient properties.
    private func findValues(of object: NSManagedObject, in parent: NSManagedObjectContext) throws -> Bool {
        let key = object.key
        let found = try query(parent) { parent throws -> (ContiguousArray<Value>, Int64)? in
            let original = parent.object(for: key)
            guard !original.flags.contains(.deleted), try parent.realise(original) else { return nil }
            original.noticeInPlaceChanges()
            var values = original.isolated(original.currentValues())
            let layout = original.layout
            for slot in layout.slots.indices where !layout.slots[slot].isPersistent {
                values[slot] = layout.initialValues[slot]
            }
            return (values, original.version)
        }
        guard let found else { return false }
        if let origin = object.page, let fetched = origin.fetched { noteReading(object, fetched, origin: origin) }
        object.state.adopt(found.0, version: found.1)
        return true
    }

    /// The rows of objects of one entity hierarchy: of the object's entity, or of the whole hierarchy if the keys
    /// need it.
    final func rows(_ keys: [ObjectKey], like object: NSManagedObject, from store: any RowStore) throws -> [RowPage] {
        let isOfOneEntity = keys.allSatisfy { $0.entity == object.key.entity }
        return try store.rows(
            withKeys: keys.map(\.number), entity: isOfOneEntity ? object.entity : object.entity.rootEntity,
            generation: pinnedGenerations?.generation(of: store))
    }

    /// The keys to read together with an object: destinations of the rows that follow its origin, rows that follow its
    /// own in a stale page, or other faults of its hierarchy without an origin.
    private func faultBatch(around object: NSManagedObject, from store: any RowStore) -> [ObjectKey] {
        guard stalenessInterval != 0 else { return [object.key] }
        guard let page = object.page else {
            return [object.key]
                + registry.looseFaults(around: object.key, epoch: epoch, batchLimit: store.faultBatchLimit)
        }
        guard object.originSlot >= 0 else {
            let rows = Int(object.row)..<min(Int(object.row) + Self.staleBatch, page.count)
            return rows.map { page.key(ofRow: $0) }.filter { key in
                key == object.key || registry.object(for: key)?.isFaultInternally == true
            }
        }
        let slot = Int(object.originSlot)
        let batches = batches(of: page)
        let batchCount = batches.readsWhole ? page.count : batches.nextTargetCount(slot: slot)
        var seen: Set<Int64> = [object.key.number]
        var keys = [object.key]
        let root = object.layout.rootIndex
        var row = batches.readsWhole ? 0 : Int(object.row) + 1
        while keys.count < batchCount, row < page.count {
            let cell = page.cell(row: row, slot: slot)
            row += 1
            guard cell.kind == .reference else { continue }
            let key = ObjectKey(store: page.store, entity: cell.entity, number: Int64(bitPattern: cell.payload))
            guard layout(of: key).rootIndex == root, seen.insert(key.number).inserted else { continue }
            if prefetchedRows.contains(key) { continue }
            if let registered = registry.object(for: key), !registered.isFaultInternally { continue }
            keys.append(key)
        }
        return keys
    }

    /// The number of rows of a stale page that are read again together.
    private static let staleBatch = 256

    final func batches(of page: RowPage) -> RelationshipBatches {
        if let loaded = page.loaded, loaded.isValid(in: epoch) { return loaded }
        let batches = RelationshipBatches(page: page, epoch: epoch)
        page.loaded = batches
        return batches
    }
}

// MARK: - Refreshing

// Objects become faults, with and without their unsaved changes.

extension NSManagedObjectContext {
    /// Turns an object into a fault; with `mergeChanges` reads its row again and keeps unsaved changes.
    final func refreshObject(_ object: NSManagedObject, mergeChanges flag: Bool) {
        checkQueue()
        guard isContext(of: object, "refreshed") else { return }
        guard !object.flags.contains(.inserted) else { return refreshNew(object, mergeChanges: flag) }
        guard !object.key.isTemporary else { return }
        if flag { endStep() }
        // An observer of the step may have taken the object out of the context.
        guard object.context === self else { return }
        removePrefetchedRows()
        object.noticeInPlaceChanges()
        if object.hasChanges {
            // Without merging, all changes are discarded, including those on the other side of relationships.
            let policy: NSMergePolicyType =
                flag ? .mergeByPropertyObjectTrumpMergePolicyType : .rollbackMergePolicyType
            do {
                _ = try restoringOnError { _ in try mergeChanges(of: [object], policy: policy) }
            } catch {
                return noteFailedRead(error, "could not refresh \(object.objectID)")
            }
            if !flag, !object.hasChanges { turnIntoFault(object) }
        } else if flag, !object.isFaultInternally {
            let before = object.state
            turnIntoFault(object)
            do {
                _ = try realise(object)
            } catch {
                object.state = before
                tracker.removeUnlisted()
                object.state.unmark(.unlisted)
                return noteFailedRead(error, "could not refresh \(object.objectID)")
            }
        } else {
            turnIntoFault(object)
        }
        post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: Set([object])])
    }

    /// Ends the event before a refresh that keeps its changes: what has changed in it is not known afterwards. A refresh by code that a
    /// save, an undo or a merge calls is a part of that work.
    private func endStep() {
        if undoManager != nil, !isSaving, restorePoint == nil { endEvent() }
    }

    /// A new object has no row: merging keeps all of its values; without merging it becomes a fault, which fires with the
    /// initial values, and loses its relationships. It stays inserted.
    private func refreshNew(_ object: NSManagedObject, mergeChanges flag: Bool) {
        guard !flag, !object.flags.contains(.deleted) else { return }
        recordChange(of: object)
        do {
            try restoringOnError { _ in
                for slot in object.layout.referenceSlots { object.setReference(slot: slot, to: nil) }
                for field in object.layout.toMany.indices { try object.setMembers([], at: field) }
            }
        } catch {
            return noteFailedRead(error, "could not refresh \(object.objectID)")
        }
        object.willTurnIntoFault()
        if object.flags.contains(.watched) { inPlaceValues.remove(object) }
        object.state.withdrawInitialValues()
        tracker.index.removeAll()
        object.didTurnIntoFault()
        post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: Set([object])])
    }

    /// Turns every object into a fault that keeps its unsaved changes.
    final func refreshRegisteredObjects() {
        checkQueue()
        endStep()
        removePrefetchedRows()
        noticeInPlaceChanges()
        let objects = registry.objects.filter { !$0.flags.contains(.inserted) }
        guard !objects.isEmpty else { return }
        do {
            _ = try restoringOnError { _ in try mergeChanges(of: objects) }
        } catch {
            return noteFailedRead(error, "could not refresh \(objects.count) objects")
        }
        post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: objects.roomySet])
    }

    /// Discards the values of an object, including unsaved changes.
    final func turnIntoFault(_ object: NSManagedObject) {
        guard !object.flags.contains(.inserted) else { return }
        // A fault that waits for its batch stays one.
        guard !object.isFaultInternally || object.hasChanges || object.page.map({ $0.fetched == nil }) == true else {
            // The members of a fault may be loaded already.
            object.state.withdrawMembers()
            return
        }
        restorePoint?.keep(object)
        object.willTurnIntoFault()
        if object.flags.contains(.watched) { inPlaceValues.remove(object) }
        if object.flags.contains(.changedInEvent) {
            tracker.leavesEvent = true
            undoRecorder.discard(object)
        }
        change(object) { $0.turnIntoFault() }
        if object.flags.contains(.listed), !object.flags.contains(.deleted) {
            unlist(object)
        }
        object.didTurnIntoFault()
    }

    /// Discards the values of an object that has no changes to save. Unsaved transient values are kept.
    final func letGo(of object: NSManagedObject) {
        guard object.flags.contains(.listed) else { return turnIntoFault(object) }
        restorePoint?.keep(object)
        let values = object.values == nil ? nil : object.currentValues()
        removeChanges(of: object)
        object.state.withdrawRow()
        guard let values, hasRow(object) else { return }
        for (slot, description) in object.layout.slots.enumerated()
        where !description.isPersistent && !values[slot].isSame(as: description.initial) {
            object.setPrimitiveSlot(slot, to: values[slot])
        }
    }
}

// MARK: - Reading again

// Rows that are read again, for objects whose values may be outdated.

extension NSManagedObjectContext {
    /// Turns an object without changes into a fault, so that its row is read again.
    final func readAgainUnlessChanged(_ object: NSManagedObject) {
        guard !object.hasChanges, !object.key.isTemporary, object.context === self else { return }
        removePrefetchedRows()
        turnIntoFault(object)
    }

    /// Discards rows that were read ahead.
    final func removePrefetchedRows() {
        prefetchedRows.removeAll()
        epoch += 1
    }

    /// Reads rows again, from which objects then get their values: one statement for each entity hierarchy.
    ///
    /// - Parameter isReadAhead: Whether a loop is likely to access the rows one after another.
    /// - Returns: The keys of the existing rows.
    @discardableResult
    package final func readAgain(_ keys: some Collection<ObjectKey>, isReadAhead: Bool = false) throws -> Set<ObjectKey>
    {
        if let parentContext {
            let keys = Array(keys)
            let existing = try query(parentContext) { parent in try keys.filter { try parent.hasObject($0) } }
            // Translated to permanent keys that the parent may have assigned.
            return Set(existing.map { $0.isTemporary ? aliases[$0.number] ?? $0 : $0 })
        }
        var existing: Set<ObjectKey> = []
        let stored = keys.filter { !$0.isTemporary }
        for (store, keys) in Dictionary(grouping: stored, by: \.store).sorted(by: { $0.key < $1.key }) {
            guard let store = rowStore(number: store) else { continue }
            let hierarchies = Dictionary(grouping: keys, by: { layout(of: $0).rootIndex })
            for (_, keys) in hierarchies.sorted(by: { $0.key < $1.key }) {
                let pages = try store.rows(
                    withKeys: keys.map(\.number), entity: entity(of: keys[0]).rootEntity,
                    generation: pinnedGenerations?.generation(of: store))
                for page in pages {
                    page.isReadAhead = isReadAhead
                    prefetchedRows.add(page)
                    for row in 0..<page.count { existing.insert(page.key(ofRow: row)) }
                }
            }
        }
        return existing
    }

    /// Whether an object with a key exists, saved or unsaved.
    private func hasObject(_ key: ObjectKey) throws -> Bool {
        let object = object(for: key)
        guard object.flags.isDisjoint(with: .removed) else { return false }
        return try object.flags.contains(.inserted) || realise(object)
    }
}
