import Foundation

// Members of to-many relationships, loaded for many objects at once.

extension NSManagedObjectContext {
    /// Loads the members of a to-many relationship for the object, and for the rows that follow it in its page. If the store
    /// cannot be read, the relationship stays unloaded.
    final func loadMembers(of object: NSManagedObject, at index: Int, into state: ToManyState) {
        if let run = knownRun(of: object, at: index) { return state.load(run) }
        do {
            try findMembers(of: object, at: index, into: state)
        } catch {
            noteFailedRead(error, "could not load \(object.entity.name ?? "").\(object.layout.toMany[index].name)")
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
            return state.load(try query(parentContext) { try $0.readMemberKeys(of: $0.object(for: key), at: index) })
        }
        if let run = try findRun(of: object, at: index) { return state.load(run) }
        guard !object.key.isTemporary, let store = rowStore(number: object.key.store) else {
            return state.load([])
        }
        let batch = try members(of: object.layout, at: index, rows: 0..<1, owners: [object.key.number], store: store)
        if let run = batch.run(row: 0) { state.load(run) }
    }

    /// The members of a relationship, which are loaded if necessary.
    final func readMemberKeys(of object: NSManagedObject, at index: Int) throws -> ContiguousArray<ObjectKey> {
        let state = object.ensureToManyState(at: index)
        if !state.isLoaded, knownRun(of: object, at: index) == nil {
            try findMembers(of: object, at: index, into: state)
        }
        return object.memberKeys(at: index)
    }

    /// The present members in the store, whatever is known of them. One statement.
    final func readMembers(of key: ObjectKey, at index: Int) throws -> MemberBatch.Run? {
        guard !key.isTemporary, let store = rowStore(number: key.store) else { return nil }
        return try members(of: layout(of: key), at: index, rows: 0..<1, owners: [key.number], store: store).run(row: 0)
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
        let batch = try members(of: object.layout, at: index, rows: rows, owners: owners, store: store)
        batches.add(batch, relationship: index)
        return batch.run(row: row)
    }

    private func members(
        of layout: EntityLayout, at index: Int, rows: Range<Int>, owners: [Int64], store: any RowStore
    ) throws -> MemberBatch {
        let result = try store.members(
            of: layout.toMany[index].relationship, owners: owners, ownerEntity: layout.entity,
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
}
