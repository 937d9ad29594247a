import CoreDataErrors
import Foundation

/// A store whose class may be part of a program. It receives the objects of a save and assigns their reference objects.
/// It stores the order of members itself, and its rows have no hidden slots.
protocol ObjectStore: RowStore {
    /// Assigns permanent keys to objects, in their order.
    func reserveKeys(for objects: [NSManagedObject]) throws -> [Int64]

    /// Assigns reference objects to objects that have keys, because they are copied from another store.
    func adopt(_ objects: [NSManagedObject]) throws

    /// Writes the changes of a context.
    ///
    /// - Throws: ``SaveConflicts`` if rows have changed since they were read; nothing is written then.
    func write(_ changes: StoreChanges, in context: NSManagedObjectContext) throws

    /// Runs work during which only its thread writes the store, if the store itself detects conflicts.
    func excludingWriters<Result>(_ body: () throws -> Result) rethrows -> Result
}

extension ObjectStore {
    var objectStore: (any ObjectStore)? { self }

    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        throw CocoaError(.persistentStoreOperation, "The store assigns keys to objects, not to rows.")
    }

    func excludingWriters<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

    func inSaveTransaction<Result>(_ body: (any SaveTransaction) throws -> Result) throws -> Result {
        throw CocoaError(.persistentStoreOperation, "The store is written by saving objects, not rows.")
    }

    func write(_ plan: SavePlan) throws -> SaveOutcome {
        throw CocoaError(.persistentStoreOperation, "The store is written by saving objects, not rows.")
    }
}

/// The changed objects of one store, each list in the order in which objects were first changed.
struct StoreChanges {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
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
