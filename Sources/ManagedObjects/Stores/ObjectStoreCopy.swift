import CoreDataErrors
import Foundation

/// Copies all objects of one store to another that identifies its objects itself. All objects are in memory at once,
/// and are saved by one call.
struct ObjectStoreCopy {
    private let source: any RowStore
    private let origin: NSPersistentStore
    private let target: any ObjectStore
    private let copy: NSPersistentStore

    init(
        from source: any RowStore, of origin: NSPersistentStore, to target: any ObjectStore, of copy: NSPersistentStore
    ) {
        self.source = source
        self.origin = origin
        self.target = target
        self.copy = copy
    }

    /// Copies the objects of the entities, and the metadata. Keys are kept; the target assigns reference objects.
    ///
    /// - Throws: Code 134070 if the target already has objects, and errors of reading and writing the stores.
    func copy(_ entities: [NSEntityDescription], model: NSManagedObjectModel) throws {
        if let atomic = copy as? NSAtomicStore, !atomic.cacheNodes().isEmpty {
            throw CocoaError(.persistentStoreOperation, "The target store already has objects.", url: copy.url)
        }
        copy.identifier = origin.identifier
        // A coordinator with a single store, which reads the rows of the source and creates the IDs of the target.
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let rows = try sourceRows(entities, coordinator)
        let entry = NSPersistentStoreCoordinator.Entry(number: origin.number, store: copy, rows: rows)
        coordinator.state.withLock { $0.entries = [entry] }
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.retainsRegisteredObjects = true
        context.persistentStoreCoordinator = coordinator
        var objects: [NSManagedObject] = []
        for entity in entities
        where entity.superentity == nil || !entities.contains(where: { $0 === entity.superentity }) {
            let request = NSFetchRequest<NSManagedObject>()
            request.entity = entity
            objects += try context.fetch(request)
        }
        try target.adopt(objects)
        copy.metadata = StoreCopy.metadata(of: origin, for: copy)
        var changes = StoreChanges()
        changes.inserted = objects
        changes.changesMetadata = true
        try target.write(changes, in: context)
    }

    /// The objects of an incremental store belong to its own coordinator, so its rows are first copied to a store in
    /// memory.
    private func sourceRows(
        _ entities: [NSEntityDescription], _ coordinator: NSPersistentStoreCoordinator
    ) throws -> any RowStore {
        guard source is IncrementalStoreRows, let url = URL(string: "memory://\(UUID().uuidString)") else {
            return source
        }
        let memory = MemoryStore(
            persistentStoreCoordinator: coordinator, configurationName: origin.configurationIfAny, at: url)
        try StoreCopy(from: source, to: memory).copy(entities, origin, memory)
        return memory
    }
}
