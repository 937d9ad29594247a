import Foundation

// Stores in iCloud documents, which Apple withdrew before CloudKit. Programs that still observe them compile, and observe nothing.

extension NSNotification.Name {
    /// Stores are about to change. Posted by ubiquity only, on Apple's platforms; never posted here.
    public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")

    /// Ubiquity has imported changes. Never posted here.
    public static let NSPersistentStoreDidImportUbiquitousContentChanges = NSNotification.Name(
        "NSPersistentStoreDidImportUbiquitousContentChangesNotification")
}

/// The key of the ``NSPersistentStoreUbiquitousTransitionType``. Never used here.
public let NSPersistentStoreUbiquitousTransitionTypeKey: String = "NSPersistentStoreUbiquitousTransitionTypeKey"

/// The reason of a change of ubiquitous stores. Never used here.
public enum NSPersistentStoreUbiquitousTransitionType: UInt, Sendable {
    /// An account was added.
    case accountAdded = 1
    /// An account was removed.
    case accountRemoved = 2
    /// The account's content has been removed.
    case contentRemoved = 3
    /// The first import has completed.
    case initialImportCompleted = 4
}
