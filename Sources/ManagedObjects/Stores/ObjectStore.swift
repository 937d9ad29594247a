import Foundation

/// A store whose class a program may write. It is handed the objects of a save, and asked for their reference objects; how
/// members are ordered is its own to remember, and no row of it has hidden slots.
protocol ObjectStore: RowStore {
    /// Gives objects permanent keys, in their order.
    func reserveKeys(for objects: [NSManagedObject]) throws -> [Int64]

    /// Gives objects that have keys already, from the store that they are copied from, what names them here.
    func adopt(_ objects: [NSManagedObject]) throws

    /// Writes the changes of a context.
    ///
    /// - Throws: ``SaveConflicts`` when rows have changed since they were read; nothing is written then.
    func write(_ changes: StoreChanges, in context: NSManagedObjectContext) throws
}

extension ObjectStore {
    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        throw CocoaError(.persistentStoreOperation, "The store gives keys to objects, not to rows.")
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
    /// Whether the store's metadata have been set since they were saved.
    var changesMetadata = false

    init() {}

    init(_ objects: some Sequence<NSManagedObject>, store: any RowStore) {
        for object in objects where object.key.store == store.number && object.hasChanges {
            let isNew = object.state.contains(.inserted)
            if object.state.contains(.deleted) {
                if !isNew { deleted.append(object) }
            } else if isNew {
                inserted.append(object)
            } else if object.hasChangedToMany(persistent: true) || !object.persistentChangedSlots().isEmpty {
                updated.append(object)
            }
        }
    }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !changesMetadata }

    /// The changes as a store's class sees them. A save of metadata alone has no sets.
    var request: NSSaveChangesRequest {
        if inserted.isEmpty, updated.isEmpty, deleted.isEmpty {
            return NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
        }
        return NSSaveChangesRequest(
            inserted: Set(inserted), updated: Set(updated), deleted: Set(deleted), locked: [])
    }
}
