/// The keys of a store's metadata.
public enum StoreMetadataKeys {
    /// The key, defined by Apple, of the name of the class that has migrated the store in place.
    public static let migrationManagerClass = "migrationManagerClass"
    /// The key of the named followers of the store's history.
    public static let historyFollowers = "CoralHistoryFollowers"
    /// The key, defined by Apple, of the work that a migration has deferred.
    public static let deferredMigration = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

    /// Whether the framework sets a key whenever it writes the metadata.
    public static func isOfFramework(_ key: String) -> Bool {
        key.hasPrefix("NSStore") || key.hasPrefix("_NS") || key == "NSPersistenceFrameworkVersion"
    }

    /// Whether a program has added a key. Its value is kept when a new file replaces a store, and is part of a document of the
    /// whole store. Values of the framework's keys follow from the model and from the store's own history.
    public static func isOfProgram(_ key: String) -> Bool {
        !isOfFramework(key) && !key.hasPrefix("NSPersistence")
            && ![migrationManagerClass, historyFollowers, deferredMigration].contains(key)
    }
}
