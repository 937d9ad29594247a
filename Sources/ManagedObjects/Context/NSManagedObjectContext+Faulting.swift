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
        makeInaccessible(object)
    }

    private func makeInaccessible(_ object: NSManagedObject) {
        object.values = .complete(ContiguousArray(repeating: .null, count: object.layout.slots.count))
        object.toMany = ToManyStates(object.layout.toMany.map { _ in ToManyState(isLoaded: true) })
        object.state.formUnion([.realised, .inaccessible])
    }

    final func removeInaccessible(_ object: NSManagedObject) {
        restorePoint?.keep(object)
        registry.remove(object.key)
        object.context = nil
        object.state = [.gone]
    }

    /// Gives a fault its row: without a statement if the row is already read, else with one for a batch of faults.
    ///
    /// - Returns: False when the row does not exist.
    final func realise(_ object: NSManagedObject) throws -> Bool {
        guard object.isFaultInternally else { return true }
        if object.state.contains(.inserted) {
            object.values = .complete(object.layout.initialValues)
            object.state.insert(.realised)
            return true
        }
        if object.page == nil || object.originSlot >= 0 {
            if object.committed != nil {
                object.state.insert(.realised)
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
        if let (page, row) = rowsAhead.row(for: object.key), !isStale(page) {
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
        for page in pages { rowsAhead.add(page) }
        for key in keys.dropFirst() {
            // Other faults of the batch get their rows now, so that the rows are not read again.
            guard let other = registry.object(for: key), other.page == nil, other.isFaultInternally,
                let (page, row) = rowsAhead.row(for: key)
            else { continue }
            adopt(page, row: row, by: other)
        }
        guard let (page, row) = rowsAhead.row(for: object.key) else { return false }
        adopt(page, row: row, by: object)
        return true
    }

    /// A child context copies the current values of its parent, including unsaved ones, but not those of transient properties.
    private func findValues(of object: NSManagedObject, in parent: NSManagedObjectContext) throws -> Bool {
        let key = object.key
        let found = try query(parent) { parent throws -> (ContiguousArray<Value>, Int64)? in
            let original = parent.object(for: key)
            guard !original.state.contains(.deleted), try parent.realise(original) else { return nil }
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
        object.page = nil
        object.originSlot = -1
        object.committed = .complete(found.0)
        object.version = found.1
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
        let wanted = batches.readsWhole ? page.count : batches.nextTargetCount(slot: slot)
        var seen: Set<Int64> = [object.key.number]
        var keys = [object.key]
        let root = object.layout.rootIndex
        var row = batches.readsWhole ? 0 : Int(object.row) + 1
        while keys.count < wanted, row < page.count {
            let cell = page.cell(row: row, slot: slot)
            row += 1
            guard cell.kind == .reference else { continue }
            let key = ObjectKey(store: page.store, entity: cell.entity, number: Int64(bitPattern: cell.payload))
            guard layout(of: key).rootIndex == root, seen.insert(key.number).inserted else { continue }
            if rowsAhead.contains(key) { continue }
            if let registered = registry.object(for: key), !registered.isFaultInternally { continue }
            keys.append(key)
        }
        return keys
    }

    /// The number of rows of a stale page that are read again together.
    private static let staleBatch = 256

    final func batches(of page: RowPage) -> RelationshipBatches {
        if let loaded = page.loaded, loaded.isValid(in: epoch) { return loaded }
        let made = RelationshipBatches(page: page, epoch: epoch)
        page.loaded = made
        return made
    }
}
