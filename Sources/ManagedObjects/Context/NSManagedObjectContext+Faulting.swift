import Foundation

// Reading the rows and members of faults.

extension NSManagedObjectContext {
    /// Realises a fault whose values are needed. If it has no row, `shouldDeleteInaccessibleFaults` determines whether
    /// it becomes a deleted object without values or the program stops.
    final func fire(_ object: NSManagedObject) {
        checkQueue()
        do {
            if try realise(object) { return }
        } catch {
            // The store cannot be read. This function cannot throw, so the object is treated as one without a row.
            report("could not fulfill a fault for \(object.objectID): \(error)")
        }
        let handled = shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: nil)
        precondition(handled, "Core Data could not fulfill a fault for \(object.objectID).")
        makeInaccessible(object)
    }

    /// Reports an error on standard error where no error can be thrown.
    final func report(_ sentence: String) {
        FileHandle.standardError.write(Data("CoreData: error: \(sentence)\n".utf8))
    }

    private func makeInaccessible(_ object: NSManagedObject) {
        object.values = ContiguousArray(repeating: .null, count: object.layout.slots.count)
        object.toMany = ToManyStates(object.layout.toMany.map { _ in ToManyState(isLoaded: true) })
        object.state.formUnion([.realised, .inaccessible])
    }

    final func forgetInaccessible(_ object: NSManagedObject) {
        registry.forget(object.key)
        object.context = nil
        object.state = [.gone]
    }

    /// Gives a fault its row: without a statement if the row is already read, else with one for a batch of faults.
    ///
    /// - Returns: False when the row does not exist.
    final func realise(_ object: NSManagedObject) throws -> Bool {
        guard object.isFaultInternally else { return true }
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
        object.state.insert(.realised)
        object.awakeFromFetch()
        return true
    }

    /// Realises an object whose row has just been read, regardless of the staleness interval.
    final func realiseAsRead(_ object: NSManagedObject) {
        guard object.isFaultInternally, object.page != nil, object.originSlot < 0 else { return object.realise() }
        object.state.insert(.realised)
        object.awakeFromFetch()
    }

    /// Whether rows are older than the context's staleness interval allows.
    private func isStale(_ page: RowPage) -> Bool {
        oldestReading.map { page.readAt < $0 } ?? false
    }

    /// The earliest permitted time of reading; nil if the age does not matter.
    private var oldestReading: ContinuousClock.Instant? {
        stalenessInterval < 0 ? nil : ContinuousClock.now - .seconds(stalenessInterval)
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
            // Other loose faults of the batch adopt their rows now, so that they are not read again.
            guard let other = registry.object(for: key), other.page == nil, other.isFaultInternally,
                let (page, row) = rowsAhead.row(for: key)
            else { continue }
            adopt(page, row: row, by: other)
        }
        guard let (page, row) = rowsAhead.row(for: object.key) else { return false }
        adopt(page, row: row, by: object)
        return true
    }

    /// A child context copies the current values of its parent, including unsaved ones.
    private func findValues(of object: NSManagedObject, in parent: NSManagedObjectContext) throws -> Bool {
        let key = object.key
        let found = try ask(parent) { parent throws -> (ContiguousArray<Value>, Int64)? in
            let original = parent.object(for: key)
            guard !original.state.contains(.deleted), try parent.realise(original) else { return nil }
            original.noticeInPlaceChanges()
            return (original.isolated(original.currentValues()), original.version)
        }
        guard let found else { return false }
        if let origin = object.page, let fetched = origin.fetched { noteReading(object, fetched, origin: origin) }
        object.page = nil
        object.originSlot = -1
        object.committed = found.0
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

    private func batches(of page: RowPage) -> RelationshipBatches {
        if let loaded = page.loaded, loaded.isValid(in: epoch) { return loaded }
        let made = RelationshipBatches(page: page, epoch: epoch)
        page.loaded = made
        return made
    }

    // MARK: - Members of to-many relationships

    /// Loads the members of a to-many relationship for the object, and for the rows that follow it in its page.
    final func loadMembers(of object: NSManagedObject, at index: Int, into state: ToManyState) {
        if let run = knownRun(of: object, at: index) { return state.load(run) }
        do {
            try findMembers(of: object, at: index, into: state)
        } catch {
            report("could not load \(object.entity.name ?? "").\(object.layout.toMany[index].name): \(error)")
            state.load([])
        }
    }

    /// The members of a to-many relationship as part of a batch, which is loaded if necessary; nil for an object whose
    /// members are loaded individually, or cannot be read.
    final func loadedRun(of object: NSManagedObject, at index: Int) -> MemberBatch.Run? {
        if let run = knownRun(of: object, at: index) { return run }
        return object.layout.toMany[index].isPersistent ? try? findRun(of: object, at: index) : nil
    }

    /// The members, if they were loaded together with those of another object.
    @inline(__always)
    private func knownRun(of object: NSManagedObject, at index: Int) -> MemberBatch.Run? {
        guard object.originSlot < 0, let loaded = object.page?.loaded, loaded.isValid(in: epoch) else { return nil }
        return loaded.members(row: Int(object.row), relationship: index, notBefore: oldestReading)
    }

    private func findMembers(of object: NSManagedObject, at index: Int, into state: ToManyState) throws {
        if let parentContext {
            let key = object.key
            return state.load(ask(parentContext) { $0.object(for: key).memberKeys(at: index) })
        }
        if let run = try findRun(of: object, at: index) { return state.load(run) }
        guard !object.key.isTemporary, let store = rowStore(number: object.key.store) else {
            return state.load([])
        }
        let batch = try members(of: object, at: index, rows: 0..<1, owners: [object.key.number], store: store)
        if let run = batch.run(row: 0) { state.load(run) }
    }

    /// Loads the members for an object with a row in a page, and for the rows that follow it.
    private func findRun(of object: NSManagedObject, at index: Int) throws -> MemberBatch.Run? {
        guard parentContext == nil, let page = object.page, object.originSlot < 0, !object.key.isTemporary,
            let store = rowStore(number: object.key.store)
        else { return nil }
        let batches = batches(of: page)
        let row = Int(object.row)
        let rows =
            store.readsRowsTogether
            ? batches.nextRows(from: row, count: page.count, relationship: index) : row..<(row + 1)
        let owners = rows.map { page.primaryKey(ofRow: $0) }
        let batch = try members(of: object, at: index, rows: rows, owners: owners, store: store)
        batches.add(batch, relationship: index)
        return batch.run(row: row)
    }

    private func members(
        of object: NSManagedObject, at index: Int, rows: Range<Int>, owners: [Int64], store: any RowStore
    ) throws -> MemberBatch {
        let result = try store.members(
            of: object.layout.toMany[index].relationship, owners: owners, ownerEntity: object.entity,
            includesRows: true, isKnown: isKnown, generation: pinnedGenerations?.generation(of: store))
        let firstPage = rowsAhead.endOfPages
        for page in result.pages {
            page.isReadAhead = true
            rowsAhead.add(page)
        }
        return MemberBatch(rows: rows, result: result, firstPage: firstPage)
    }

    /// Reads rows of members again that are no longer among the rows read ahead: those of this owner, and if a loop
    /// accesses many owners, those of the following ones. Errors are ignored: each fault that fires reports its own.
    final func readRowsAgain(of run: MemberBatch.Run) {
        guard stalenessInterval != 0, run.count > 0, rowStore(number: run.key(0).store)?.readsRowsTogether != false
        else { return }
        let count = membersAgain.next(in: epoch, atMost: Self.memberBatchLimit)
        let keys = Set(run.keys(followedUpTo: count).filter { !isKnown($0) })
        _ = try? readAgain(keys.sorted { $0.number < $1.number }, isReadAhead: true)
    }

    /// Whether a row has been read already.
    private func isKnown(_ key: ObjectKey) -> Bool {
        if rowsAhead.contains(key) { return true }
        guard let object = registry.object(for: key) else { return false }
        return !object.isFaultInternally || (object.page != nil && object.originSlot < 0)
    }

    // MARK: - Refreshing

    /// Turns an object into a fault; with `mergeChanges` reads its row again and keeps unsaved changes.
    final func refreshObject(_ object: NSManagedObject, mergeChanges flag: Bool) {
        checkQueue()
        guard object.context === self else { return }
        guard !object.state.contains(.inserted) else { return refreshNew(object, mergeChanges: flag) }
        guard !object.key.isTemporary else { return }
        forgetRowsAhead()
        object.noticeInPlaceChanges()
        if object.hasChanges {
            // Without merging, all changes are discarded, including those on the other side of relationships.
            rebase([object], policy: flag ? .mergeByPropertyObjectTrumpMergePolicyType : .rollbackMergePolicyType)
            if !flag, !object.hasChanges { turnIntoFault(object) }
        } else if flag, !object.isFaultInternally {
            turnIntoFault(object)
            _ = try? realise(object)
        } else {
            turnIntoFault(object)
        }
        post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: Set([object])])
    }

    /// A new object has no row: merging keeps all of its values; without merging it gets its initial values, and loses its
    /// relationships. It stays inserted.
    private func refreshNew(_ object: NSManagedObject, mergeChanges flag: Bool) {
        guard !flag, !object.state.contains(.deleted) else { return }
        recordChange(of: object)
        for (slot, value) in object.layout.initialValues.enumerated() {
            if object.layout.slots[slot].kind == .toOne {
                object.setReference(slot: slot, to: nil)
            } else {
                object.setPrimitiveSlot(slot, to: value)
            }
        }
        // Removing all members cannot fail: only members of a wrong entity are refused.
        for field in object.layout.toMany.indices { try? object.setMembers([], at: field) }
        post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: Set([object])])
    }

    /// Turns every object into a fault that keeps its unsaved changes.
    final func refreshRegisteredObjects() {
        checkQueue()
        forgetRowsAhead()
        noticeInPlaceChanges()
        let objects = registry.objects.filter { !$0.state.contains(.inserted) }
        rebase(objects)
        guard !objects.isEmpty else { return }
        post(.NSManagedObjectContextObjectsDidChange, [NSRefreshedObjectsKey: objects.roomySet])
    }

    /// Discards the values of an object, including unsaved changes.
    final func turnIntoFault(_ object: NSManagedObject) {
        guard !object.state.contains(.inserted) else { return }
        // A fault that waits for its batch stays one.
        guard !object.isFaultInternally || object.hasChanges || object.page.map({ $0.fetched == nil }) == true else {
            // The members of a fault may be loaded already.
            object.toMany = []
            return
        }
        object.willTurnIntoFault()
        if object.state.contains(.watched) { inPlaceValues.forget(object) }
        if object.state.contains(.updated), !object.state.contains(.deleted) { updatedCount -= 1 }
        object.page = nil
        object.originSlot = -1
        object.values = nil
        object.committed = nil
        object.toMany = []
        object.eventStart = nil
        object.state.subtract([.realised, .updated, .changedInEvent, .relationshipChanged])
        if object.state.contains(.listed), !object.state.contains(.deleted) {
            object.state.remove(.listed)
            changed.removeAll { $0 === object }
        }
        changedInEvent.removeAll { $0 === object }
        object.didTurnIntoFault()
    }

    /// Discards the values of an object that has no changes to save. Unsaved transient values are kept.
    final func letGo(of object: NSManagedObject) {
        guard object.state.contains(.listed) else { return turnIntoFault(object) }
        let values = object.values
        forgetChanges(of: object)
        object.page = nil
        object.originSlot = -1
        object.committed = nil
        object.state.remove(.realised)
        guard let values, (try? realise(object)) == true else { return }
        for (slot, description) in object.layout.slots.enumerated()
        where !description.isPersistent && !values[slot].isNull {
            object.setPrimitiveSlot(slot, to: values[slot])
        }
    }

    /// Turns an object without changes into a fault, so that its row is read again.
    final func readAgainUnlessChanged(_ object: NSManagedObject) {
        guard !object.hasChanges, !object.key.isTemporary, object.context === self else { return }
        forgetRowsAhead()
        turnIntoFault(object)
    }

    /// Discards rows that were read ahead.
    final func forgetRowsAhead() {
        rowsAhead.removeAll()
        epoch += 1
    }

    /// Reads rows again, from which objects then get their values: one statement for each entity hierarchy.
    ///
    /// - Parameter isReadAhead: Whether a loop is likely to access the rows one after another.
    /// - Returns: The keys of the existing rows.
    @discardableResult
    final func readAgain(_ keys: some Collection<ObjectKey>, isReadAhead: Bool = false) throws -> Set<ObjectKey> {
        if let parentContext {
            let wanted = Array(keys)
            let there = ask(parentContext) { parent in wanted.filter { parent.hasObject($0) } }
            // Translated to permanent keys that the parent may have assigned.
            return Set(there.map { $0.isTemporary ? aliases[$0.number] ?? $0 : $0 })
        }
        var there: Set<ObjectKey> = []
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
                    rowsAhead.add(page)
                    for row in 0..<page.count { there.insert(page.key(ofRow: row)) }
                }
            }
        }
        return there
    }

    /// Whether an object with a key exists, saved or unsaved.
    private func hasObject(_ key: ObjectKey) -> Bool {
        let object = object(for: key)
        guard object.state.isDisjoint(with: [.deleted, .inaccessible]) else { return false }
        return object.state.contains(.inserted) || (try? realise(object)) == true
    }
}
