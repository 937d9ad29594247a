import Foundation

extension NSNotification.Name {
    /// Stores have been added, removed or given another UUID. The object is the coordinator; the user info contains the
    /// stores under ``NSAddedPersistentStoresKey``, ``NSRemovedPersistentStoresKey`` and
    /// ``NSUUIDChangedPersistentStoresKey``. Posted on the thread that made the change.
    public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
        "_NSPersistentStoreCoordinatorStoresDidChangeNotification")

    /// A store is about to be removed. The object is the coordinator.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "_NSPersistentStoreCoordinatorWillRemoveStoreNotification")

    /// This or another coordinator or process has written to a store. The object is the coordinator; the user info
    /// contains ``NSStoreUUIDKey``, ``NSPersistentStoreURLKey`` and, if the store has a history,
    /// ``NSPersistentHistoryTokenKey``: an ``NSPersistentHistoryToken`` of the last transaction.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}

/// The key of the stores that were added, in a notification: an array.
public let NSAddedPersistentStoresKey: String = "added"

/// The key of the stores that were removed, in a notification: an array.
public let NSRemovedPersistentStoresKey: String = "removed"

/// The key of a store before and after its UUID changed, in a notification: an array of the two.
public let NSUUIDChangedPersistentStoresKey: String = "changed"

/// The key of the store's location in a notification of a remote change.
public let NSPersistentStoreURLKey: String = "storeURL"

/// The key of the history token in a notification of a remote change.
public let NSPersistentHistoryTokenKey: String = "historyToken"
