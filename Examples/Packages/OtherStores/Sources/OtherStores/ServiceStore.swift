import CoreData

/// A store over an HTTP service.
///
///     GET    /store                          {"uuid": "…"}
///     GET    /Entity?key=value               the references of objects, in an array; the query holds equalities
///     GET    /Entity/reference               an object: {"version": 3, "values": {…}}
///     GET    /Entity?reference=a&reference=b several objects, by reference
///     PUT    /Entity/reference               an object's values; "If-Match" holds the version that they are based on, 0 for a
///                                            new object
///     DELETE /Entity/reference               the same
///
/// The methods of an incremental store are synchronous, so use such a store from private queues. Requests that the
/// service does not support throw an error.
///
/// A save sends a request for each object. If one fails, the preceding ones have been carried out, and the next save
/// sends all of them again with the current versions of the service.
public final class ServiceStore: NSIncrementalStore, @unchecked Sendable {  // because a lock guards its state
    /// The type to register the class for.
    public static let storeType = "Service"

    /// The rows that one context has read, kept as long as the context. Two contexts may have read one object at
    /// different times; a change is based on the row that its own context has read.
    private final class ReadRows {
        var rows: [NSManagedObjectID: JSONRow] = [:]
    }

    private let lock = NSLock()
    /// The last row read of each object, for a context whose row Core Data has copied from another context.
    private var lastRows: [NSManagedObjectID: JSONRow] = [:]

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
            if let save = request as? NSSaveChangesRequest { try carryOut(save, of: context) }
            return []
        default: throw StoreFailure.unsupportedRequest
        }
    }

    private func results(of request: NSFetchRequest<NSFetchRequestResult>, in context: NSManagedObjectContext) throws
        -> [Any]
    {
        guard let entity = request.entity, let name = entity.name else { return [] }
        guard !request.includesSubentities || entity.subentities.isEmpty else {
            throw StoreFailure.notCarriedOut("A request lists the objects of one entity.")
        }
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
            let names = try FetchedAttributes.names(of: request, entity)
            let rows = try rows(of: ids, entity: entity)
            let found: [JSONRow] = ids.compactMap { rows[$0] }
            return try found.map { row in
                let values = try row.values(of: entity, in: self)
                return values.filter { names.contains($0.key) } as NSDictionary
            }
        default: return ids.map { context.object(with: $0) }
        }
    }

    // MARK: - Saving

    public override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        // The client chooses references, so that a repeated request creates one object only.
        array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }

    private func carryOut(_ save: NSSaveChangesRequest, of context: NSManagedObjectContext?) throws {
        for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
            let (id, values) = (object.objectID, values(of: object))
            let version = row(of: id, context)?.version ?? 0
            try connection.send("PUT", path(id), version, values)
            let row = JSONRow(reference: "\(referenceObject(for: id))", version: version + 1, members: values)
            remember([id: row], for: context)
        }
        for object in save.deletedObjects ?? [] {
            let id = object.objectID
            do {
                try connection.send("DELETE", path(id), row(of: id, context)?.version ?? 0)
            } catch let error as CocoaError where error.code == StoreFailure.missing.code {
                // An earlier attempt to save has already deleted the object.
            }
            forget(id, for: context)
        }
    }

    private func path(_ id: NSManagedObjectID) -> String { "\(id.entity.name ?? "")/\(referenceObject(for: id))" }

    /// An object's values as JSON.
    private func values(of object: NSManagedObject) -> [String: Any] {
        var values: [String: Any] = [:]
        for name in object.entity.attributesByName.keys {
            switch object.value(forKey: name) {
            case let date as Date: values[name] = JSONRow.text(of: date)
            case let decimal as NSDecimalNumber: values[name] = decimal.stringValue
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
        let row = try readRow(of: objectID)
        remember([objectID: row], for: context)
        return try node(objectID, row)
    }

    public override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        // The members and the values are read from the same row, so that both have one version.
        let row = try row(of: objectID, context) ?? readRow(of: objectID)
        return try row.destinations(of: relationship, in: self)
    }

    private func node(_ id: NSManagedObjectID, _ row: JSONRow) throws -> NSIncrementalStoreNode {
        NSIncrementalStoreNode(objectID: id, withValues: try row.values(of: id.entity, in: self), version: row.version)
    }

    private func readRow(of id: NSManagedObjectID) throws -> JSONRow {
        try Self.row(connection.json("GET", path(id)), "\(referenceObject(for: id))")
    }

    private static func row(_ answer: Any, _ reference: String) throws -> JSONRow {
        guard let object = answer as? [String: Any], let version = object["version"] as? NSNumber,
            let values = object["values"] as? [String: Any]
        else { throw StoreFailure.wrongDocument(reference) }
        return JSONRow(reference: reference, version: version.uint64Value, members: values)
    }

    /// Several objects of an entity. Cost: a request for each hundred, so that no URL is too long for a server.
    private func rows(of ids: [NSManagedObjectID], entity: NSEntityDescription) throws -> [NSManagedObjectID: JSONRow] {
        var rows: [NSManagedObjectID: JSONRow] = [:]
        for start in stride(from: 0, to: ids.count, by: 100) {
            let references = ids[start..<min(start + 100, ids.count)].map { ($0, "\(referenceObject(for: $0))") }
            let query = references.map { URLQueryItem(name: "reference", value: $0.1) }
            guard let answer = try connection.json("GET", entity.name ?? "", query: query) as? [String: Any] else {
                throw StoreFailure.wrongDocument(entity.name ?? "")
            }
            for (id, reference) in references {
                if let object = answer[reference] { rows[id] = try Self.row(object, reference) }
            }
        }
        return rows
    }

    // MARK: - Rows that were read

    private func readRows(_ context: NSManagedObjectContext) -> ReadRows {
        let key = "ServiceStore \(identifier ?? "")"
        if let known = context.userInfo[key] as? ReadRows { return known }
        let new = ReadRows()
        context.userInfo[key] = new
        return new
    }

    private func row(of id: NSManagedObjectID, _ context: NSManagedObjectContext?) -> JSONRow? {
        context.flatMap { readRows($0).rows[id] } ?? lock.withLock { lastRows[id] }
    }

    private func remember(_ rows: [NSManagedObjectID: JSONRow], for context: NSManagedObjectContext?) {
        if let context { readRows(context).rows.merge(rows) { $1 } }
        lock.withLock { lastRows.merge(rows) { $1 } }
    }

    public override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        lock.withLock { for id in objectIDs { lastRows[id] = nil } }
    }

    private func forget(_ id: NSManagedObjectID, for context: NSManagedObjectContext?) {
        if let context { readRows(context).rows[id] = nil }
        lock.withLock { lastRows[id] = nil }
    }
}

#if !canImport(Darwin)
    // An addition of the engine to Core Data: one call for many objects.
    extension ServiceStore: IncrementalStoreBatching {
        public func newValuesForObjects(
            with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
        ) throws -> [NSIncrementalStoreNode] {
            try Dictionary(grouping: objectIDs, by: \.entity).flatMap { entity, ids in
                let rows = try rows(of: ids, entity: entity)
                remember(rows, for: context)
                return try rows.map { try node($0, $1) }
            }
        }

        public func newValues(
            forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
            with context: NSManagedObjectContext
        ) throws -> [NSManagedObjectID: Any] {
            var found: [NSManagedObjectID: JSONRow] = [:]
            for id in objectIDs { found[id] = row(of: id, context) }
            let missing = objectIDs.filter { found[$0] == nil }
            if let entity = missing.first?.entity {
                found.merge(try rows(of: missing, entity: entity)) { $1 }
            }
            return try found.mapValues { try $0.destinations(of: relationship, in: self) }
        }
    }
#endif
