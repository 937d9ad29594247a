import CoreDataErrors
import Foundation
import FoundationAdditions
import PredicateLanguage
import StoreSupport

// Fetching with unsaved changes.
//
// `PendingMatches` are the changed objects of the fetched entity that match in memory, and those that may have rows.
// `PendingCorrection` excludes the latter from the statement and places the former among its rows by binary search, so
// that limit, offset and numbers are the store's. `PendingIndex` finds the changed objects with a value that the
// predicate requires (`RequiredValue`). If the predicate or the order passes through changed objects of other entities
// (`RequestReach`), every row is evaluated.

// Fetching: rows of the store become objects, and unsaved changes are applied as if they were stored.

extension NSFetchRequest {
    /// The request as the methods of a context receive it that can be overridden: itself if it has their result type, even if it is
    /// of a subclass, otherwise a copy.
    fileprivate final var forOverrides: NSFetchRequest<any NSFetchRequestResult> {
        self as? NSFetchRequest<any NSFetchRequestResult> ?? NSFetchRequest<any NSFetchRequestResult>(self)
    }
}

extension NSManagedObjectContext {
    /// The objects, IDs, dictionaries or counts that a request describes: one statement for each store, and at most two
    /// for each step of a key path to prefetch.
    public func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        checkQueue()
        if isOfSubclass { return try Self.results(try fetch(request.forOverrides)) }
        let specification = request.specification
        if specification.resultType == .managedObjectResultType, T.self is NSManagedObject.Type,
            let objects = Self.cast(try fetchObjects(specification), to: T.self)
        {
            return objects
        }
        if specification.resultType == .managedObjectIDResultType, T.self == NSManagedObjectID.self {
            // An array of the type that the request has.
            return unsafeBitCast(try fetchObjectIDs(specification), to: [T].self)
        }
        if specification.resultType == .dictionaryResultType, T.self == NSDictionary.self {
            return unsafeBitCast(try fetching(specification) { try dictionaries($0, entity: $1) }, to: [T].self)
        }
        return try Self.results(try fetchResults(specification))
    }

    /// Whether the context is of a subclass, whose methods may be overridden.
    final var isOfSubclass: Bool { type(of: self) != NSManagedObjectContext.self }

    /// The results of a fetch in the type that the request has.
    private static func results<T>(_ results: [Any]) throws -> [T] {
        if let typed = results as? [T] { return typed }
        throw CocoaError(
            .coreData,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The request gives \(results.first.map { String(describing: type(of: $0)) } ?? "other results"), not \(T.self)."
            ])
    }

    /// The number of objects that a fetch of the request would return: one statement for each store.
    public func count<T>(for request: NSFetchRequest<T>) throws -> Int {
        if isOfSubclass { return try count(for: request.forOverrides) }
        return try countOfResults(request.specification)
    }

    package final func countOfResults(_ specification: FetchSpecification) throws -> Int {
        checkQueue()
        return try StoreObservation.observing(
            .fetch, specification.entity?.name ?? specification.entityName ?? "", count: { _ in 1 }
        ) {
            try throwingFailedReads { try counted(specification) }
        }
    }

    private func counted(_ specification: FetchSpecification) throws -> Int {
        let (specification, entity) = try converted(specification)
        if specification.resultType == .dictionaryResultType { return try fetchResults(specification).count }
        guard needsPendingChanges(specification) else { return try committedCount(specification, entity: entity) }
        applyPendingDeletions()
        guard let pending = try pendingMatches(specification, entity: entity) else {
            return try evaluatedObjects(specification, entity: entity).count
        }
        if pending.isEmpty { return try committedCount(specification, entity: entity) }
        return try keyCorrection(pending, specification, entity: entity).count {
            try committedCount($0, entity: entity)
        }
    }

    /// The number of results without unsaved changes of this context.
    private func committedCount(_ specification: FetchSpecification, entity: NSEntityDescription) throws -> Int {
        if let parentContext {
            return try query(parentContext) { try $0.countOfResults(specification) }
        }
        let stores = try fetchedStores(specification, entity: entity)
        if stores.count == 1, let store = stores.first, canAnswer(specification, store) {
            return try store.count(
                matching: specification.rowQuery(entity: entity), generation: pinnedGenerations?.generation(of: store))
        }
        return try committedObjects(specification, entity: entity).count
    }

    /// The objects cast to a class; nil if one is of another class.
    private static func cast<T>(_ objects: [NSManagedObject], to type: T.Type) -> [T]? {
        guard objects.areAll(type) else { return nil }
        // An array of references, all of which have just been checked to be of the class.
        return unsafeBitCast(objects, to: [T].self)
    }

    private func fetchObjects(_ specification: FetchSpecification) throws -> [NSManagedObject] {
        try fetching(specification) { try objects($0, entity: $1) }
    }

    private func fetchObjectIDs(_ specification: FetchSpecification) throws -> [NSManagedObjectID] {
        try fetching(specification) { try objectIDs($0, entity: $1) }
    }

    package final func fetchResults(_ specification: FetchSpecification) throws -> [Any] {
        try fetching(specification) { try results($0, entity: $1) }
    }

    /// Prepares a fetch. The errors of all reads that belong to it are thrown, those of faults that a predicate fires, too.
    private func fetching<Element>(
        _ specification: FetchSpecification, _ work: (FetchSpecification, NSEntityDescription) throws -> [Element]
    ) throws -> [Element] {
        try fetching(specification, count: { $0.count }, work)
    }

    private func fetching<Result>(
        _ specification: FetchSpecification, count: (Result) -> Int,
        _ work: (FetchSpecification, NSEntityDescription) throws -> Result
    ) throws -> Result {
        try StoreObservation.observing(
            .fetch, specification.entity?.name ?? specification.entityName ?? "", count: count
        ) {
            try throwingFailedReads {
                applyPendingDeletions()
                let (specification, entity) = try converted(specification)
                return try work(specification, entity)
            }
        }
    }

    private func results(_ specification: FetchSpecification, entity: NSEntityDescription) throws -> [Any] {
        switch specification.resultType {
        case .managedObjectIDResultType:
            return try objectIDs(specification, entity: entity)
        case .countResultType:
            var counted = specification
            counted.resultType = .managedObjectIDResultType
            return [NSNumber(value: try countOfResults(counted))]
        case .dictionaryResultType:
            return try dictionaries(specification, entity: entity)
        default:
            return try objects(specification, entity: entity)
        }
    }

    /// Applies delete rules, so that results contain no objects that the end of the event would delete. The event continues.
    private func applyPendingDeletions() {
        if propagatesDeletesAtEndOfEvent, !isProcessing, !isSaving { propagateDeletions() }
    }

    /// The request with its constants converted to the kinds of the properties they are compared with, and its entity.
    private func converted(_ specification: FetchSpecification) throws -> (FetchSpecification, NSEntityDescription) {
        guard let coordinator = rootCoordinator else {
            throw CocoaError(.coreData, "The context has no persistent store coordinator to fetch from.")
        }
        let entity = try specification.entity(in: coordinator.managedObjectModel)
        return (try specification.converted(for: entity, in: coordinator), entity)
    }

    final func fetchedStores(
        _ specification: FetchSpecification, entity: NSEntityDescription
    ) throws -> [any RowStore] {
        guard let coordinator else { return [] }
        let entries = coordinator.entries
        if entries.count == 1, specification.affectedStores == nil {
            return entries.map { $0.rows.answering(self) }
        }
        return entries.filter { entry in
            Self.holds(entry.store, entity, coordinator)
                && specification.affectedStores?.contains { $0 === entry.store } ?? true
        }.map { $0.rows.answering(self) }
    }

    /// Whether a store's configuration contains the entity or one that inherits from it.
    private static func holds(
        _ store: NSPersistentStore, _ entity: NSEntityDescription, _ coordinator: NSPersistentStoreCoordinator
    ) -> Bool {
        coordinator.holds(store, entity) || entity.subentities.contains { holds(store, $0, coordinator) }
    }

    // MARK: - Objects

    private func objects(_ specification: FetchSpecification, entity: NSEntityDescription) throws -> [NSManagedObject] {
        guard needsPendingChanges(specification) else { return try committedObjects(specification, entity: entity) }
        guard let pending = try pendingMatches(specification, entity: entity) else {
            return try evaluatedObjects(specification, entity: entity)
        }
        if pending.isEmpty { return try committedObjects(specification, entity: entity) }
        return try PendingCorrection(
            context: self, pending: pending, specification: specification, entity: entity,
            read: { try self.committedObjects($0, entity: entity) }, registered: { $0 }, object: { $0 }, element: { $0 }
        ).results()
    }

    /// The objects of a request without unsaved changes of this context.
    final func committedObjects(
        _ specification: FetchSpecification, entity: NSEntityDescription
    ) throws -> [NSManagedObject] {
        if let parentContext { return try objectsOfParent(parentContext, specification, entity: entity) }
        let stores = try fetchedStores(specification, entity: entity)
        let fetchesObjects = fetchesObjects(specification, stores)
        if stores.count == 1, let store = stores.first, !fetchesObjects,
            let found = try objectsInBatches(specification, entity: entity, store: store)
        {
            return found
        }
        let excludesHere = !specification.excludedKeys.isEmpty && stores.contains { $0.objectStore != nil }
        let finishesHere = fetchesObjects || stores.count > 1 || excludesHere
        var query = specification.rowQuery(entity: entity)
        if fetchesObjects { query.predicate = nil }
        if finishesHere {
            // Results of several stores, and evaluations here, may come before or after any row of a store.
            query.offset = 0
            query.limit = 0
        }
        var found: [NSManagedObject] = []
        for store in stores {
            if let store = store as? IncrementalStoreRows {
                found += try objects(of: store, matching: query, specification: specification)
                continue
            }
            let result = try store.rows(matching: query, generation: pinnedGenerations?.generation(of: store))
            found.reserveCapacity(found.count + result.order.count)
            materialize(result, specification: specification, into: &found)
        }
        if fetchesObjects, let predicate = specification.predicate {
            found = try found.filter { try predicate.evaluation(with: $0) }
        }
        if excludesHere {
            let excluded = Set(specification.excludedKeys)
            found.removeAll { excluded.contains($0.key) }
        }
        if finishesHere {
            try sort(&found, by: specification.sortDescriptors ?? [])
            found = Array(specification.window(of: found[...]))
        }
        let keyPaths = specification.relationshipKeyPathsForPrefetching ?? []
        try requireRelationships(keyPaths, of: entity)
        prefetch(keyPaths, of: found)
        return found
    }

    /// The IDs alone: no object is created, and no value read, except of changed objects and of those between which they are.
    private func objectIDs(_ specification: FetchSpecification, entity: NSEntityDescription) throws
        -> [NSManagedObjectID]
    {
        guard let keys = try keys(specification, entity: entity) else {
            return try objects(specification, entity: entity).map(\.objectID)
        }
        var maker = ObjectIDMaker(rootCoordinator)
        return keys.map { key in
            registeredObject(for: key)?.objectID(by: &maker) ?? maker.objectID(for: key, entity: self.entity(of: key))
        }
    }

    /// The objects by their position, of which a batch is created when one is asked for.
    final func batchedObjects(_ specification: FetchSpecification) throws -> BatchedObjects {
        try fetching(specification, count: { $0.count }) { specification, entity in
            guard parentContext == nil, specification.readsInBatches, !specification.shouldRefreshRefetchedObjects,
                try fetchedStores(specification, entity: entity).allSatisfy({ $0.objectStore == nil }),
                let keys = try keys(specification, entity: entity)
            else { return BatchedObjects(all: try objects(specification, entity: entity), of: entity) }
            try requireRelationships(specification.relationshipKeyPathsForPrefetching ?? [], of: entity)
            return BatchedObjects(
                FetchBatches(ContiguousArray(keys), of: entity, specification: specification), in: self)
        }
    }

    /// The keys of the results; nil where they are determined with the objects.
    private func keys(_ specification: FetchSpecification, entity: NSEntityDescription) throws -> [ObjectKey]? {
        guard needsPendingChanges(specification) else { return try committedKeys(specification, entity: entity) }
        guard let pending = try pendingMatches(specification, entity: entity) else { return nil }
        if pending.isEmpty { return try committedKeys(specification, entity: entity) }
        // Each binary search reads some twenty objects.
        let searches = pending.matching.count * Self.objectsOfSearch
        let isSorted = specification.sortDescriptors?.isEmpty == false
        if isSorted, searches > 0, 1...searches ~= specification.fetchLimit { return nil }
        return try keyCorrection(pending, specification, entity: entity).results()
    }

    private static let objectsOfSearch = 20

    private func keyCorrection(
        _ pending: PendingMatches, _ specification: FetchSpecification, entity: NSEntityDescription
    ) -> PendingCorrection<ObjectKey> {
        PendingCorrection(
            context: self, pending: pending, specification: specification, entity: entity,
            read: { specification in
                try self.committedKeys(specification, entity: entity)
                    ?? self.committedObjects(specification, entity: entity).map(\.key)
            },
            registered: { self.registeredObject(for: $0) }, object: { self.object(for: $0) }, element: { $0.key })
    }

    /// Whether a store evaluates all of a request.
    private func canAnswer(_ specification: FetchSpecification, _ store: any RowStore) -> Bool {
        !fetchesObjects(specification, [store]) && (specification.excludedKeys.isEmpty || store.objectStore == nil)
    }

    /// The keys of the results without unsaved changes of this context; nil where they are determined with the objects.
    private func committedKeys(_ specification: FetchSpecification, entity: NSEntityDescription) throws -> [ObjectKey]?
    {
        if let parentContext {
            return try query(parentContext) { try $0.fetchObjectIDs(specification).map(\.key) }
        }
        let stores = try fetchedStores(specification, entity: entity)
        guard stores.count == 1, let store = stores.first, canAnswer(specification, store) else { return nil }
        return try store.keys(
            matching: specification.rowQuery(entity: entity), generation: pinnedGenerations?.generation(of: store))
    }

    /// Whether the predicate contains a block or other code that takes objects, and all stores evaluate it in memory,
    /// as in Core Data. SQLite stores reject it.
    final func fetchesObjects(_ specification: FetchSpecification, _ stores: [any RowStore]) -> Bool {
        !stores.isEmpty && stores.allSatisfy(\.hasRowsInMemory) && specification.predicate?.asksCode == true
    }

    /// Creates objects from rows: the inner loop of every fetch.
    private func materialize(
        _ result: RowResult, specification: FetchSpecification, into objects: inout [NSManagedObject]
    ) {
        let realises = !specification.returnsObjectsAsFaults
        let refreshes = specification.shouldRefreshRefetchedObjects
        if let first = result.pages.first { prepareToRegister(result.order.count, of: first.layout) }
        for position in result.order {
            let page = result.pages[Int(position.page)]
            let row = Int(position.row)
            let key = page.key(ofRow: row)
            let object: NSManagedObject
            var known = registry.object(for: key)
            if !refreshes, known.map({ isOutdated($0, by: page, row: row) }) == true {
                // Where nothing else refers to the object, the result is a new one with the new row.
                known = nil
                releaseUnreferenced([key])
                known = registry.object(for: key)
            }
            if let registered = known {
                object = registered
                if object.isFaultInternally {
                    adopt(page, row: row, by: object)
                } else if refreshes, !object.hasChanges, object.version != page.version(ofRow: row) {
                    turnIntoFault(object)
                    adopt(page, row: row, by: object)
                }
            } else {
                object = makeObject(page.layout, key: key)
                adopt(page, row: row, by: object)
            }
            if realises { realiseAsRead(object) }
            objects.append(object)
        }
    }

    /// Whether an object has the values of another version of its row.
    private func isOutdated(_ object: NSManagedObject, by page: RowPage, row: Int) -> Bool {
        !object.isFaultInternally && object.version != page.version(ofRow: row) && !object.hasChanges
    }

    private func objectsOfParent(
        _ parent: NSManagedObjectContext, _ specification: FetchSpecification, entity: NSEntityDescription
    ) throws -> [NSManagedObject] {
        var asked = specification
        asked.resultType = .managedObjectResultType
        let request = asked
        let originals = try query(parent) { try $0.fetchResults(request).compactMap { $0 as? NSManagedObject } }
        return objects(
            FetchBatches(
                ContiguousArray(originals.map(\.key)), of: entity, specification: asked, originals: originals))
    }
}

extension NSEntityDescription {
    /// The entity and all that inherit from it.
    var withSubentities: [NSEntityDescription] {
        [self] + subentities.flatMap(\.withSubentities)
    }
}

extension NSFetchRequest {
    package convenience init(specification: FetchSpecification) {
        self.init()
        self.specification = specification
    }
}
