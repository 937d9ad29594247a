import CoreDataErrors
import Foundation

/// A store whose class may be part of a program. It receives the objects of a save and assigns their reference objects.
/// It stores the order of members itself, and its rows have no hidden slots.
package protocol ObjectStore: RowStore {
    /// Assigns permanent keys to objects, in their order.
    func reserveKeys(for objects: [NSManagedObject]) throws -> [Int64]

    /// Assigns reference objects to objects that have keys, because they are copied from another store.
    ///
    /// - Throws: Code 134070 if the store already has objects.
    func adopt(_ objects: [NSManagedObject]) throws

    /// Writes the changes of a context.
    ///
    /// - Throws: ``SaveConflicts`` if rows have changed since they were read; nothing is written then.
    func write(_ changes: StoreChanges, in context: NSManagedObjectContext) throws

    /// Runs work during which only its thread writes the store, if the store itself detects conflicts.
    func excludingWriters<Result>(_ body: () throws -> Result) rethrows -> Result
}

extension ObjectStore {
    package var objectStore: (any ObjectStore)? { self }

    package func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        throw CocoaError(.persistentStoreOperation, "The store assigns keys to objects, not to rows.")
    }

    func excludingWriters<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

    package func inSaveTransaction<Result>(_ body: (any SaveTransaction) throws -> Result) throws -> Result {
        throw CocoaError(.persistentStoreOperation, "The store is written by saving objects, not rows.")
    }

    package func write(_ plan: SavePlan) throws -> SaveOutcome {
        throw CocoaError(.persistentStoreOperation, "The store is written by saving objects, not rows.")
    }
}

/// The changed objects of one store, each list in the order in which objects were first changed.
package struct StoreChanges {
    package var inserted: [NSManagedObject] = []
    package var updated: [NSManagedObject] = []
    package var deleted: [NSManagedObject] = []
    /// Whether the store's metadata have been set since the last save.
    var changesMetadata = false

    init() {}

    init(_ objects: some Sequence<NSManagedObject>, store: any RowStore) {
        for object in objects where object.key.store == store.number && object.hasChanges {
            let isNew = object.flags.contains(.inserted)
            if object.flags.contains(.deleted) {
                if !isNew { deleted.append(object) }
            } else if isNew {
                inserted.append(object)
            } else if object.hasChangedToMany(persistent: true) || !object.persistentChangedSlots().isEmpty {
                updated.append(object)
            }
        }
    }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !changesMetadata }

    /// The save request that the store's class receives. Its sets are nil if only metadata are saved.
    var request: NSSaveChangesRequest {
        if inserted.isEmpty, updated.isEmpty, deleted.isEmpty {
            return NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
        }
        return NSSaveChangesRequest(
            inserted: Set(inserted), updated: Set(updated), deleted: Set(deleted), locked: [])
    }
}

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
        guard source is IncrementalStoreRows, let url = URL(string: "memory://\(UUID().uuidString)"),
            let memoryClass = LinkedModules.storeClasses[NSInMemoryStoreType]
        else { return source }
        let memory = memoryClass.init(
            persistentStoreCoordinator: coordinator, configurationName: origin.configurationIfAny, at: url)
        guard let rows = memory.rowStore else { return source }
        try StoreCopy(from: source, to: rows).copy(entities, origin, memory)
        return rows
    }
}
