import Foundation

extension Notification.Name {
    /// Objects of a context have changed: posted when pending changes are processed.
    public static let NSManagedObjectContextObjectsDidChange = Notification.Name(
        "NSObjectsChangedInManagingContextNotification")
    /// Posted before a save, by the context that is about to be saved.
    public static let NSManagedObjectContextWillSave = Notification.Name("NSManagedObjectContextWillSaveNotification")
    /// Posted after a save, with the objects, for ``NSManagedObjectContext/mergeChanges(fromContextDidSave:)``.
    public static let NSManagedObjectContextDidSave = Notification.Name(
        "NSManagingContextDidSaveChangesNotification")
    /// Posted after a save, with object IDs.
    public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name(
        "NSManagedObjectContextDidSaveObjectIDsNotification")
    /// Posted after changes given as object IDs were merged.
    public static let NSManagedObjectContextDidMergeChangesObjectIDs = Notification.Name(
        "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
}

extension NSManagedObjectContext {
    /// Posted before a save.
    public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
    /// Posted after a save, with the saved objects.
    public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
    /// Posted at the end of an event, with the changed objects.
    public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
    /// Posted after a save, with the IDs of the saved objects.
    public static let didSaveObjectIDsNotification = Notification.Name.NSManagedObjectContextDidSaveObjectIDs
    /// Posted after changes given as object IDs were merged.
    public static let didMergeChangesObjectIDsNotification =
        Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs

    /// Keys of the notifications' user info.
    public enum NotificationKey: String, Sendable {
        /// The context that posts the notification.
        case sourceContext = "managedObjectContext"
        /// The context's current query generation.
        case queryGeneration = "newQueryGeneration"
        /// Whether all objects have become invalid.
        case invalidatedAllObjects = "invalidatedAll"
        /// The objects that were inserted.
        case insertedObjects = "inserted"
        /// The objects that were updated.
        case updatedObjects = "updated"
        /// The objects that were deleted.
        case deletedObjects = "deleted"
        /// The objects that were refreshed.
        case refreshedObjects = "refreshed"
        /// The objects that have become invalid.
        case invalidatedObjects = "invalidated"
        /// The IDs of the objects that were inserted.
        case insertedObjectIDs = "inserted_objectIDs"
        /// The IDs of the objects that were updated.
        case updatedObjectIDs = "updated_objectIDs"
        /// The IDs of the objects that were deleted.
        case deletedObjectIDs = "deleted_objectIDs"
        /// The IDs of the objects that were refreshed.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// The IDs of the objects that have become invalid.
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }

    /// Posts a notification of the context, or holds it until a transaction has ended.
    final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
        if heldNotifications != nil {
            heldNotifications?.append((name, userInfo))
            return
        }
        if isObservable, name == .NSManagedObjectContextObjectsDidChange {
            for object in userInfo[NSRefreshedObjectsKey] as? Set<NSManagedObject> ?? [] { object.noteRefreshing() }
        }
        NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }
}

/// In user info: the objects that were inserted, as a set.
public let NSInsertedObjectsKey = "inserted"
/// In user info: the objects that were updated, as a set.
public let NSUpdatedObjectsKey = "updated"
/// In user info: the objects that were deleted, as a set.
public let NSDeletedObjectsKey = "deleted"
/// In user info: the objects that were refreshed, as a set.
public let NSRefreshedObjectsKey = "refreshed"
/// In user info: the objects that have become invalid, as a set.
public let NSInvalidatedObjectsKey = "invalidated"
/// In user info: the IDs of the context's objects, which have all become invalid, as an array.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// In user info: the IDs of the objects that were inserted, as a set.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// In user info: the IDs of the objects that were updated, as a set.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// In user info: the IDs of the objects that were deleted, as a set.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// In user info: the IDs of the objects that were refreshed, as a set.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// In user info: the IDs of the objects that have become invalid, as a set.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// In user info: the context's current query generation.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"
