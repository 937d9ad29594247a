import CoreDataErrors
import Foundation

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
        return fetched.keys.indices.map { object(at: $0, of: fetched, origin: origin, refreshing: refreshing) }
    }

    /// The object at a position of the batches; young if it is soon released.
    final func object(
        at position: Int, of fetched: FetchBatches, origin: RowPage, refreshing: Bool = false, isYoung: Bool = false
    ) -> NSManagedObject {
        let key = fetched.keys[position]
        let object = registeredObject(for: key) ?? makeObject(layout(of: key), key: key, isYoung: isYoung)
        if refreshing, !object.hasChanges { turnIntoFault(object) }
        if object.isFaultInternally, object.committed == nil, object.page == nil || object.originSlot >= 0 {
            object.state.awaitBatch(origin, position: position)
        }
        return object
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
            object.state.awaitBatch(origin, position: position)
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
            object.flags.subtracting([.realised, .metAgain]).isEmpty,
            object.toMany.allSatisfy({ $0?.isChanged != true })
        else { return nil }
        return Unmanaged.passUnretained(object)
    }
}

// MARK: - Members

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

    /// Loads the members of all to-many relationships of objects that have no row in a page, because this context has saved them:
    /// a statement for each relationship and some thousands of objects. Those of other objects are loaded with their page.
    ///
    /// - Parameter start: The index of the first object.
    final func loadMembersTogether(of objects: [NSManagedObject], from start: Int) {
        guard parentContext == nil else { return }
        var groups: [[NSManagedObject]] = []
        var groupOfEntity: [Int: Int] = [:]
        var position = start
        while position < objects.count {
            let object = objects[position]
            position += 1
            guard object.page == nil, !object.key.isTemporary, !object.layout.toMany.isEmpty else { continue }
            let entity = Int(object.key.store) << 16 | object.layout.index
            let group = groupOfEntity[entity] ?? groups.count
            groupOfEntity[entity] = group
            if group == groups.count { groups.append([]) }
            groups[group].append(object)
        }
        for group in groups where group.count > 1 {
            for index in group[0].layout.toMany.indices where group[0].layout.toMany[index].isPersistent {
                do {
                    try loadMembersTogether(of: group, at: index)
                } catch {
                    noteFailedRead(
                        error, "could not load \(group[0].entity.name ?? "").\(group[0].layout.toMany[index].name)")
                }
            }
        }
    }

    private func loadMembersTogether(of objects: [NSManagedObject], at index: Int) throws {
        guard let store = rowStore(number: objects[0].key.store), store.readsRowsTogether else { return }
        let unknown = objects.filter { $0.toMany.isUnknown(at: index) }
        for start in stride(from: 0, to: unknown.count, by: Self.memberBatchLimit) {
            let owners = unknown[start..<min(start + Self.memberBatchLimit, unknown.count)]
            let batch = try members(
                of: objects[0].layout, at: index, rows: 0..<owners.count, owners: owners.map(\.key.number), store: store
            )
            for (row, owner) in owners.enumerated() {
                if let run = batch.run(row: row) { owner.toMany.setRun(run, at: index) }
            }
        }
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
        let firstPage = prefetchedRows.endOfPages
        for page in result.pages {
            page.isReadAhead = true
            prefetchedRows.add(page)
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
        if prefetchedRows.contains(key) { return true }
        guard let object = registry.object(for: key) else { return false }
        return !object.isFaultInternally || (object.page != nil && object.originSlot < 0)
    }
}

// MARK: - Prefetching

// Relationships loaded in advance for the objects of a fetch.

extension NSManagedObjectContext {
    /// Loads relationships of fetched objects in advance: at most two statements for each step of a key path. Objects
    /// that do not have the relationship are skipped.
    final func prefetch(_ keyPaths: [String], of objects: [NSManagedObject]) {
        for keyPath in keyPaths {
            var reached = objects
            for step in keyPath.split(separator: ".").map(String.init) {
                var next: [NSManagedObject] = []
                var seen: Set<ObjectIdentifier> = []
                for object in reached {
                    switch object.field(of: step) {
                    case .toMany(let index):
                        next += object.members(at: index).filter { seen.insert(ObjectIdentifier($0)).inserted }
                    case .slot(let slot) where object.layout.slots[slot].kind == .toOne:
                        if let target = object.relatedObject(slot: slot), seen.insert(ObjectIdentifier(target)).inserted
                        {
                            next.append(target)
                        }
                    default: continue
                    }
                }
                for object in next { realiseAsRead(object) }
                reached = next
            }
        }
    }

    /// Checks the key paths to prefetch.
    ///
    /// - Throws: `CocoaError.coreData` for a step that is not a relationship of the entity or of one that inherits from
    ///   it.
    final func requireRelationships(_ keyPaths: [String], of entity: NSEntityDescription) throws {
        for keyPath in keyPaths {
            var reached = [entity]
            for step in keyPath.split(separator: ".").map(String.init) {
                let relationships = reached.flatMap(\.withSubentities).compactMap { $0.relationshipsByName[step] }
                guard !relationships.isEmpty else { throw CocoaError.missingRelationship(step, of: reached[0]) }
                reached = relationships.compactMap(\.destinationEntity)
            }
        }
    }
}

extension CocoaError {
    fileprivate static func missingRelationship(_ name: String, of entity: NSEntityDescription) -> CocoaError {
        CocoaError(
            .coreData,
            userInfo: [
                NSLocalizedDescriptionKey: "\(entity.name ?? "") has no relationship \"\(name)\" to prefetch."
            ])
    }
}

/// The entity of a batch request: given directly, or by a name that is looked up when the request is executed.
package enum BatchTarget {
    case entity(NSEntityDescription)
    case name(String)

    package var name: String {
        switch self {
        case .entity(let entity): entity.name ?? ""
        case .name(let name): name
        }
    }

    package var entity: NSEntityDescription? {
        if case .entity(let entity) = self { entity } else { nil }
    }

    /// The entity in a model.
    ///
    /// - Throws: `CocoaError.coreData` if the model has no entity with the name.
    package func entity(in model: NSManagedObjectModel) throws -> NSEntityDescription {
        try FetchSpecification(entityName: name, entity: entity).entity(in: model)
    }
}
