import CoreData

/// A read-only store over a folder of JSON documents: `Entity/reference.json` is an object, and its file name is the
/// reference that other documents use. Within an entity and its subentities file names must be unique. `store.json` in
/// the folder contains the store's UUID.
///
///     NSPersistentStoreCoordinator.registerStoreClass(FolderStore.self, forStoreType: FolderStore.storeType)
///     try coordinator.addPersistentStore(ofType: FolderStore.storeType, configurationName: nil, at: folder)
///
/// A document is read when the row of its object is requested, so a list of faults needs only the file names. A
/// predicate reads the documents of all objects that it is evaluated for.
public final class FolderStore: NSIncrementalStore, @unchecked Sendable {  // because it has no state of its own
    /// The type to register the class for.
    public static let storeType = "Folder"

    public override var type: String { Self.storeType }

    // MARK: - Opening

    public override func loadMetadata() throws {
        struct Description: Decodable { let uuid: UUID }
        let data = try Data(contentsOf: folder.appendingPathComponent("store.json"))
        let description = try JSONDecoder().decode(Description.self, from: data)
        // The same in every run, so that object URIs stay valid.
        metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: description.uuid.uuidString]
    }

    private var folder: URL { url ?? URL(fileURLWithPath: "/") }

    // MARK: - Requests

    public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws
        -> Any
    {
        switch request.requestType {
        case .fetchRequestType:
            guard let request = request as? NSFetchRequest<NSFetchRequestResult>, let context else { return [] }
            return try results(of: request, in: context)
        case .saveRequestType:
            // A save without changes also calls this method.
            guard let save = request as? NSSaveChangesRequest, Self.isEmpty(save) else {
                throw CocoaError(.fileWriteNoPermission, userInfo: [NSURLErrorKey: folder])
            }
            return []
        default: throw StoreFailure.unsupportedRequest
        }
    }

    private static func isEmpty(_ save: NSSaveChangesRequest) -> Bool {
        [save.insertedObjects, save.updatedObjects, save.deletedObjects].allSatisfy { $0?.isEmpty != false }
    }

    private func results(of request: NSFetchRequest<NSFetchRequestResult>, in context: NSManagedObjectContext) throws
        -> [Any]
    {
        guard let entity = request.entity else { return [] }
        var objects = try ids(of: entity, includingSubentities: request.includesSubentities).map {
            context.object(with: $0)
        }
        if let predicate = request.predicate { objects = objects.filter { predicate.evaluate(with: $0) } }
        if let descriptors = request.sortDescriptors, !descriptors.isEmpty {
            objects = (objects as NSArray).sortedArray(using: descriptors) as? [NSManagedObject] ?? objects
        }
        objects = Array(objects.dropFirst(request.fetchOffset))
        if request.fetchLimit > 0 { objects = Array(objects.prefix(request.fetchLimit)) }
        switch request.resultType {
        case .countResultType: return [NSNumber(value: objects.count)]
        case .managedObjectIDResultType: return objects.map(\.objectID)
        case .dictionaryResultType:
            let names = try FetchedAttributes.names(of: request, entity)
            return objects.map { $0.dictionaryWithValues(forKeys: names) as NSDictionary }
        default: return objects
        }
    }

    /// The IDs of an entity's objects, by their file names.
    private func ids(of entity: NSEntityDescription, includingSubentities: Bool) throws -> [NSManagedObjectID] {
        let directory = folder.appendingPathComponent(entity.name ?? "")
        var ids: [NSManagedObjectID] = []
        if FileManager.default.fileExists(atPath: directory.path) {
            ids = try FileManager.default.contentsOfDirectory(atPath: directory.path)
                .filter { $0.hasSuffix(".json") }.sorted()
                .map { newObjectID(for: entity, referenceObject: String($0.dropLast(5))) }
        }
        if includingSubentities {
            for entity in entity.subentities { ids += try self.ids(of: entity, includingSubentities: true) }
        }
        return ids
    }

    // MARK: - Rows

    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let row = try row(of: objectID)
        return NSIncrementalStoreNode(
            objectID: objectID, withValues: try row.values(of: objectID.entity, in: self), version: row.version)
    }

    public override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        try row(of: objectID).destinations(of: relationship, in: self)
    }

    private func row(of id: NSManagedObjectID) throws -> JSONRow {
        let reference = "\(referenceObject(for: id))"
        // A URI may contain any text; a path outside the folder is not an object's.
        guard !reference.contains("/") else { throw StoreFailure.missing }
        let file = folder.appendingPathComponent(id.entity.name ?? "").appendingPathComponent("\(reference).json")
        guard let data = try? Data(contentsOf: file) else { throw StoreFailure.missing }
        guard let members = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw StoreFailure.wrongDocument(reference)
        }
        return JSONRow(reference: reference, version: 1, members: members)
    }
}
