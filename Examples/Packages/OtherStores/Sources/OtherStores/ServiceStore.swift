import CoreData

/// A store over an HTTP service.
///
///     GET    /store                          {"uuid": "…"}
///     GET    /Entity?key=value               the references of objects, in an array; the query holds equalities
///     GET    /Entity/reference               an object: {"version": 3, "values": {…}}
///     GET    /Entity?references=a,b,c        several objects, by reference
///     PUT    /Entity/reference               an object's values; "If-Match" holds the version that they are based on
///     DELETE /Entity/reference               the same
///
/// The methods of an incremental store are synchronous, so use such a store from private queues. Predicates that the service does
/// not support throw an error.
public final class ServiceStore: NSIncrementalStore, @unchecked Sendable {  // because a lock guards its state
    /// The type to register the class for.
    public static let storeType = "Service"

    private let lock = NSLock()
    /// Rows that were received with others. Each is used once: a later read sends a request.
    private var rowsAhead: [NSManagedObjectID: JSONRow] = [:]
    private var versions: [NSManagedObjectID: UInt64] = [:]

    public override var type: String { Self.storeType }

    private var connection: ServiceConnection { ServiceConnection(base: url ?? URL(fileURLWithPath: "/")) }

    public override func loadMetadata() throws {
        guard let store = try connection.json("GET", "store") as? [String: Any], let uuid = store["uuid"] as? String
        else {
            throw CocoaError(.fileReadCorruptFile, userInfo: [NSURLErrorKey: url as Any])
        }
        metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: uuid]
    }

    // MARK: - Requests

    public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws
        -> Any
    {
        switch request.requestType {
        case .fetchRequestType:
            guard let request = request as? NSFetchRequest<NSFetchRequestResult>, let context else { return [] }
            return try results(of: request, in: context)
        case .saveRequestType:
            if let save = request as? NSSaveChangesRequest { try carryOut(save) }
            return []
        default: throw StoreFailure.unsupportedRequest
        }
    }

    private func results(of request: NSFetchRequest<NSFetchRequestResult>, in context: NSManagedObjectContext) throws
        -> [Any]
    {
        guard let entity = request.entity, let name = entity.name else { return [] }
        var query = try request.predicate.map(ServiceQuery.items) ?? []
        for descriptor in request.sortDescriptors ?? [] {
            query.append(URLQueryItem(name: "sort", value: (descriptor.ascending ? "" : "-") + (descriptor.key ?? "")))
        }
        if request.fetchOffset > 0 { query.append(URLQueryItem(name: "offset", value: "\(request.fetchOffset)")) }
        if request.fetchLimit > 0 { query.append(URLQueryItem(name: "limit", value: "\(request.fetchLimit)")) }
        let references = try connection.json("GET", name, query: query) as? [String] ?? []
        let ids = references.map { newObjectID(for: entity, referenceObject: $0) }
        switch request.resultType {
        case .countResultType: return [NSNumber(value: ids.count)]
        case .managedObjectIDResultType: return ids
        case .dictionaryResultType:
            return try rows(of: ids, entity: entity).values.map { try $0.values(of: entity, in: self) as NSDictionary }
        default: return ids.map { context.object(with: $0) }
        }
    }

    // MARK: - Saving

    public override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        // The client creates the references, so that a request that is sent twice creates one object.
        array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }

    private func carryOut(_ save: NSSaveChangesRequest) throws {
        for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
            try connection.send("PUT", path(object.objectID), version(of: object.objectID), values(of: object))
            lock.withLock { versions[object.objectID] = (versions[object.objectID] ?? 0) + 1 }
        }
        for object in save.deletedObjects ?? [] {
            try connection.send("DELETE", path(object.objectID), version(of: object.objectID))
        }
    }

    private func version(of id: NSManagedObjectID) -> UInt64 { lock.withLock { versions[id] ?? 0 } }

    private func path(_ id: NSManagedObjectID) -> String { "\(id.entity.name ?? "")/\(referenceObject(for: id))" }

    /// An object's values as JSON.
    private func values(of object: NSManagedObject) -> [String: Any] {
        var values: [String: Any] = [:]
        for name in object.entity.attributesByName.keys {
            switch object.value(forKey: name) {
            case let date as Date: values[name] = ISO8601DateFormatter().string(from: date)
            case let data as Data: values[name] = data.base64EncodedString()
            case let uuid as UUID: values[name] = uuid.uuidString
            case let url as URL: values[name] = url.absoluteString
            case let value?: values[name] = value
            case nil: break
            }
        }
        func reference(_ object: Any) -> String? {
            (object as? NSManagedObject).map { "\(referenceObject(for: $0.objectID))" }
        }
        for (name, relationship) in object.entity.relationshipsByName {
            let value = object.value(forKey: name)
            if !relationship.isToMany {
                values[name] = value.flatMap(reference)
            } else {
                let members = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
                values[name] = members.compactMap(reference)
            }
        }
        return values
    }

    // MARK: - Rows

    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let answer = try connection.json("GET", path(objectID))
        return try node(objectID, try remember(Self.row(answer, "\(referenceObject(for: objectID))"), of: objectID))
    }

    public override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let known = lock.withLock { rowsAhead[objectID] }
        let row = try known ?? Self.row(connection.json("GET", path(objectID)), "\(referenceObject(for: objectID))")
        return row.destinations(of: relationship, in: self)
    }

    private func node(_ id: NSManagedObjectID, _ row: JSONRow) throws -> NSIncrementalStoreNode {
        NSIncrementalStoreNode(objectID: id, withValues: try row.values(of: id.entity, in: self), version: row.version)
    }

    private func remember(_ row: JSONRow, of id: NSManagedObjectID) -> JSONRow {
        lock.withLock {
            rowsAhead[id] = row
            versions[id] = row.version
        }
        return row
    }

    public override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        lock.withLock { for id in objectIDs { rowsAhead[id] = nil } }
    }

    private static func row(_ answer: Any, _ reference: String) throws -> JSONRow {
        guard let object = answer as? [String: Any], let version = object["version"] as? NSNumber,
            let values = object["values"] as? [String: Any]
        else { throw StoreFailure.wrongValue("everything", reference) }
        return JSONRow(reference: reference, version: version.uint64Value, members: values)
    }

    /// Several objects of an entity by one request.
    private func rows(of ids: [NSManagedObjectID], entity: NSEntityDescription) throws -> [NSManagedObjectID: JSONRow] {
        let references = ids.map { "\(referenceObject(for: $0))" }
        let query = [URLQueryItem(name: "references", value: references.joined(separator: ","))]
        let answer = try connection.json("GET", entity.name ?? "", query: query) as? [String: Any] ?? [:]
        var rows: [NSManagedObjectID: JSONRow] = [:]
        for (id, reference) in zip(ids, references) {
            if let object = answer[reference] { rows[id] = remember(try Self.row(object, reference), of: id) }
        }
        return rows
    }
}

#if !canImport(Darwin)
    /// An addition of this package's engine to Core Data: one request for many objects.
    extension ServiceStore: IncrementalStoreBatching {
        public func newValuesForObjects(
            with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
        ) throws -> [NSIncrementalStoreNode] {
            try Dictionary(grouping: objectIDs, by: \.entity).flatMap { entity, ids in
                try rows(of: ids, entity: entity).map { try node($0, $1) }
            }
        }

        public func newValues(
            forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
            with context: NSManagedObjectContext
        ) throws -> [NSManagedObjectID: Any] {
            let known = lock.withLock { rowsAhead.filter { objectIDs.contains($0.key) } }
            let missing = objectIDs.filter { known[$0] == nil }
            let read = missing.isEmpty ? [:] : try rows(of: missing, entity: missing[0].entity)
            return known.merging(read) { $1 }.mapValues { $0.destinations(of: relationship, in: self) }
        }
    }
#endif
