import Foundation

/// A save: the objects of a context that were inserted, changed and deleted.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    private let inserted: Set<NSManagedObject>?
    private let updated: Set<NSManagedObject>?
    private let deleted: Set<NSManagedObject>?
    private let locked: Set<NSManagedObject>?

    /// Creates a save of these objects. Locked objects are not changed, but must not have been changed in the store.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        inserted = insertedObjects
        updated = updatedObjects
        deleted = deletedObjects
        locked = lockedObjects
    }

    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

    /// The objects to insert.
    open var insertedObjects: Set<NSManagedObject>? { inserted }
    /// The objects whose changes are written.
    open var updatedObjects: Set<NSManagedObject>? { updated }
    /// The objects to delete.
    open var deletedObjects: Set<NSManagedObject>? { deleted }
    /// The objects that must not have changed in the store since they were read.
    open var lockedObjects: Set<NSManagedObject>? { locked }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSSaveChangesRequest(inserted: inserted, updated: updated, deleted: deleted, locked: locked)
        copy.assign(from: self)
        return copy
    }
}
