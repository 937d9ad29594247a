import CoreData

/// Loads objects of one context in batches, a fetch for each entity and batch, and determines which do not exist.
package final class ObjectLoader {
    package let context: NSManagedObjectContext
    private let plan: ShapePlan
    package let batchSize: Int
    /// The primary keys of entities whose rows have all been read; for others the store is queried.
    private var known: [ObjectIdentifier: PrimaryKeyRanges] = [:]
    private let names: ObjectNames
    /// Whether objects exist that were looked up, so that an object to which many refer is looked up once. A loader reads
    /// one state of the store.
    private var existence: [ObjectIDKey: Bool] = [:]
    private static let existenceLimit = 50_000
    private let storeIdentifier: String?
    /// Whether all keys of an entity are read when the first of them is checked: suitable for a whole store.
    private let countsRows: Bool

    /// A loader of all properties of single objects, without a walk from one to another.
    package convenience init(reading model: NSManagedObjectModel, in context: NSManagedObjectContext, batchSize: Int)
        throws
    {
        self.init(
            context: context, plan: try ShapePlan(.roots, model: model), batchSize: batchSize, storeIdentifier: nil,
            countsRows: false)
    }

    init(
        context: NSManagedObjectContext, plan: ShapePlan, batchSize: Int, storeIdentifier: String?, countsRows: Bool,
        names: ObjectNames = ObjectNames()
    ) {
        self.names = names
        self.countsRows = countsRows
        self.context = context
        self.plan = plan
        self.batchSize = max(batchSize, 1)
        self.storeIdentifier = storeIdentifier
    }

    /// The IDs of an entity's objects, without those of entities that inherit from it, sorted by key. One statement.
    package func ids(of entity: NSEntityDescription, in stores: [NSPersistentStore]? = nil) throws
        -> [NSManagedObjectID]
    {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
        request.resultType = .managedObjectIDResultType
        request.includesSubentities = false
        request.affectedStores = stores
        var ids = try context.fetch(request)
        var keys = keys(of: ids)
        // Stores usually return them in this order.
        if !keys.areSorted {
            ids = ids.map { (names.newName(of: $0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
            keys = self.keys(of: ids)
        }
        if stores == nil { known[ObjectIdentifier(entity)] = keys.ranges }
        return ids
    }

    /// Whether IDs are in the order of documents, and then their primary keys; nil if one is of another store or has none.
    private func keys(of ids: [NSManagedObjectID]) -> (areSorted: Bool, ranges: PrimaryKeyRanges?) {
        var ranges: PrimaryKeyRanges? = PrimaryKeyRanges()
        var last: ObjectName?
        for id in ids {
            // Of a million names none is kept.
            let name = names.newName(of: id)
            if let last, name < last { return (false, nil) }
            if let key = name.primaryKey, name.store == storeIdentifier { ranges?.append(key) } else { ranges = nil }
            last = name
        }
        return (true, ranges)
    }

    /// The objects with these IDs, loaded, in the same order; nil for one that does not exist.
    ///
    /// One statement for each entity of objects that are not loaded, and one for each of its to-many relationships.
    ///
    /// - Parameter mayBeLoaded: Whether the context may have loaded some of them already.
    package func objects(with ids: [NSManagedObjectID], mayBeLoaded: Bool = true) throws -> [NSManagedObject?] {
        var objects = [NSManagedObject?](repeating: nil, count: ids.count)
        var absent: [(entity: NSEntityDescription, positions: [Int])] = []
        for (position, id) in ids.enumerated() {
            if mayBeLoaded, let object = context.registeredObject(for: id), !object.isFault {
                if !object.isDeleted { objects[position] = object }
                continue
            }
            let entity = id.entity
            // Consecutive objects usually have the same entity.
            if let index = absent.lastIndex(where: { $0.entity === entity }) {
                absent[index].positions.append(position)
            } else {
                absent.append((entity, [position]))
            }
        }
        for (entity, positions) in absent {
            let wanted = positions.count == ids.count ? ids : positions.map { ids[$0] }
            try find(wanted, of: entity) { objects[positions[$0]] = $1 }
        }
        return objects
    }

    /// Fetches objects, and calls a function with each that is not deleted and with its position in the list.
    private func find(
        _ ids: [NSManagedObjectID], of entity: NSEntityDescription, _ body: (Int, NSManagedObject) -> Void
    ) throws {
        let found = try fetch(ids, of: entity)
        // The results are usually in the order of the IDs.
        if found.count == ids.count, zip(found, ids).allSatisfy({ $0.objectID == $1 }) {
            for (position, object) in found.enumerated() where !object.isDeleted { body(position, object) }
            return
        }
        var objects: [ObjectIDKey: NSManagedObject] = [:]
        for object in found where !object.isDeleted { objects[ObjectIDKey(object.objectID)] = object }
        for (position, id) in ids.enumerated() {
            if let object = objects[ObjectIDKey(id)] { body(position, object) }
        }
    }

    private func fetch(_ ids: [NSManagedObjectID], of entity: NSEntityDescription) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [ids])
        request.includesSubentities = false
        request.returnsObjectsAsFaults = false
        // IDs do not change, and evaluating the predicate for every unsaved object costs more than the fetch.
        request.includesPendingChanges = false
        request.relationshipKeyPathsForPrefetching = try plan.plan(for: entity).toManyNames
        return try context.fetch(request)
    }

    /// The objects that do not exist. Loaded and unsaved objects exist.
    ///
    /// Cost: for a whole store a statement for each entity; otherwise one for each entity and batch of objects that are
    /// not loaded.
    func missing(among lists: [[NSManagedObjectID]]) throws -> Set<NSManagedObjectID> {
        var missing: Set<NSManagedObjectID> = []
        var doubtful: [NSEntityDescription: Set<NSManagedObjectID>] = [:]
        var last: (entity: NSEntityDescription, rows: PrimaryKeyRanges?)?
        for ids in lists {
            for id in ids where !id.isTemporaryID {
                let entity = id.entity
                if last?.entity !== entity { last = (entity, try rows(of: entity)) }
                if let rows = last?.rows {
                    let name = names.name(of: id)
                    if name.store == storeIdentifier, let key = name.primaryKey {
                        if !rows.contains(key), !isLoaded(id) { missing.insert(id) }
                        continue
                    }
                }
                if let exists = existence[ObjectIDKey(id)] {
                    if !exists { missing.insert(id) }
                } else if !isLoaded(id) {
                    doubtful[entity, default: []].insert(id)
                }
            }
        }
        for (entity, ids) in doubtful {
            let absent = try absent(ids, of: entity)
            missing.formUnion(absent)
            if existence.count + ids.count > ObjectLoader.existenceLimit { existence = [:] }
            for id in ids { existence[ObjectIDKey(id)] = !absent.contains(id) }
        }
        return missing
    }

    private func isLoaded(_ id: NSManagedObjectID) -> Bool { context.registeredObject(for: id)?.isFault == false }

    private func rows(of entity: NSEntityDescription) throws -> PrimaryKeyRanges? {
        if let ranges = known[ObjectIdentifier(entity)] { return ranges }
        guard countsRows else { return nil }
        _ = try ids(of: entity)
        return known[ObjectIdentifier(entity)]
    }

    private func absent(
        _ ids: Set<NSManagedObjectID>, of entity: NSEntityDescription
    ) throws -> Set<NSManagedObjectID> {
        var rest = ids
        let list = Array(ids)
        for start in stride(from: 0, to: list.count, by: batchSize) {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
            request.resultType = .managedObjectIDResultType
            request.includesSubentities = false
            request.predicate = NSPredicate(
                format: "SELF IN %@", argumentArray: [Array(list[start..<min(start + batchSize, list.count)])])
            rest.subtract(try context.fetch(request))
        }
        return rest
    }
}
