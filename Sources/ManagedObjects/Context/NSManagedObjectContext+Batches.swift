// Fetches whose rows are read batch by batch: see `FetchBatches`.

extension NSManagedObjectContext {
    /// The objects of a request whose rows are read later; nil if the rows are read now.
    final func objectsInBatches(
        _ specification: FetchSpecification, entity: NSEntityDescription, store: any RowStore
    ) throws -> [NSManagedObject]? {
        guard specification.readsInBatches, !(store is any ObjectStore) else { return nil }
        try requireRelationships(specification.relationshipKeyPathsForPrefetching ?? [], of: entity)
        let keys = try store.keys(
            matching: specification.rowQuery(entity: entity), generation: pinnedGenerations?.generation(of: store))
        return objects(
            FetchBatches(ContiguousArray(keys), of: entity, specification: specification),
            refreshing: specification.shouldRefreshRefetchedObjects)
    }

    /// The objects of the batches: faults, unless already registered.
    final func objects(_ fetched: FetchBatches, refreshing: Bool = false) -> [NSManagedObject] {
        let origin = RowPage(fetched: fetched, layout: fetched.entity.layout)
        return fetched.keys.enumerated().map { position, key in
            let object = registeredObject(for: key) ?? makeObject(layout(of: key), key: key)
            if refreshing, !object.hasChanges { turnIntoFault(object) }
            if object.isFaultInternally, object.committed == nil, object.page == nil || object.originSlot >= 0 {
                object.await(origin, position: position)
            }
            return object
        }
    }

    /// Reads the rows of the batch that a fault belongs to: one statement for up to 500 objects.
    final func readBatch(of object: NSManagedObject, _ fetched: FetchBatches, origin: RowPage) throws {
        guard let store = rowStore(number: object.key.store) else { return }
        let batch = fetched.batch(of: Int(object.row))
        let isNeverStale = stalenessInterval != 0
        let waiting = fetched.positions(inBatch: batch).map { fetched.keys[$0] }.filter { key in
            key == object.key || isNeverStale && registry.object(for: key)?.page === origin
        }
        let pages = try rows(waiting, like: object, from: store)
        var read: [NSManagedObject] = []
        for page in pages {
            page.isFetchBatch = true
            for row in 0..<page.count {
                guard let found = registry.object(for: page.key(ofRow: row)), found.page === origin else { continue }
                adopt(page, row: row, by: found)
                read.append(found)
            }
        }
        if let former = fetched.beginReading(batch: batch) { letGo(batch: former, of: fetched, origin: origin) }
        if fetched.realisesObjects {
            for found in read where found !== object { realiseAsRead(found) }
        }
        guard !fetched.keyPathsForPrefetching.isEmpty, !fetched.isPrefetching else { return }
        fetched.isPrefetching = true
        defer { fetched.isPrefetching = false }
        prefetch(fetched.keyPathsForPrefetching, of: read)
    }

    /// Records that an object of a batch was realised with values of a parent context; unused objects of the former
    /// batch become faults.
    final func noteReading(_ object: NSManagedObject, _ fetched: FetchBatches, origin: RowPage) {
        let batch = fetched.batch(of: Int(object.row))
        if let former = fetched.beginReading(batch: batch) { letGo(batch: former, of: fetched, origin: origin) }
    }

    /// Turns the objects of a batch into faults again, except those that are changed, watched or referenced.
    private func letGo(batch: Int, of fetched: FetchBatches, origin: RowPage) {
        for position in fetched.positions(inBatch: batch) {
            guard let unused = unusedObject(for: fetched.keys[position]) else { continue }
            let object = unused.takeUnretainedValue()
            let isFault = object.isFaultInternally
            if !isFault { object.willTurnIntoFault() }
            object.await(origin, position: position)
            if !isFault { object.didTurnIntoFault() }
        }
    }

    /// An object without unsaved changes and without references other than those of results.
    private func unusedObject(for key: ObjectKey) -> Unmanaged<NSManagedObject>? {
        guard let object = clearObject(for: key), ReferenceCount.isInResultsOnly(object) else { return nil }
        return object
    }

    /// An object without unsaved changes.
    @inline(never)
    private func clearObject(for key: ObjectKey) -> Unmanaged<NSManagedObject>? {
        guard let object = registry.object(for: key), object.values == nil,
            object.state.subtracting([.realised, .metAgain]).isEmpty,
            object.toMany.allSatisfy({ $0?.isChanged != true })
        else { return nil }
        return Unmanaged.passUnretained(object)
    }
}

extension NSManagedObject {
    /// Makes the object a fault whose row is read with its batch.
    fileprivate final func await(_ origin: RowPage, position: Int) {
        page = origin
        row = Int32(truncatingIfNeeded: position)
        originSlot = .max
        committed = nil
        toMany = []
        state.remove(.realised)
    }
}
