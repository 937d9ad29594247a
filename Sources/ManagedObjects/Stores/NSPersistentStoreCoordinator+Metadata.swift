import Foundation

// Metadata of open and closed stores, and the registered classes of stores.

extension NSPersistentStoreCoordinator {
    /// The metadata of a store at a location; if the type is nil, of an SQLite store.
    @available(*, deprecated, message: "Use metadataForPersistentStore(ofType:at:options:).")
    public class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: storeType ?? NSSQLiteStoreType, at: url, options: nil)
    }

    /// The metadata of a store at a location, without adding it.
    public class func metadataForPersistentStore(
        type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
    }

    /// Writes the metadata of a store at a location; if the type is nil, of an SQLite store.
    @available(*, deprecated, message: "Use setMetadata(_:forPersistentStoreOfType:at:options:).")
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: storeType ?? NSSQLiteStoreType, at: url, options: nil)
    }

    /// Writes the metadata of a store at a location, without adding it.
    public class func setMetadata(
        _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
    }

    // MARK: - Classes of stores

    /// The types of stores that can be added; each value contains a pointer to a class.
    static var classesByType: [String: NSValue] {
        StoreClasses.shared.all.compactMapValues { storeClass in
            withUnsafeBytes(of: Unmanaged.passUnretained(storeClass as AnyObject).toOpaque()) { pointer in
                // "#" is the Objective-C type encoding of a class.
                pointer.baseAddress.map { NSValue(bytes: $0, objCType: "#") }
            }
        }
    }

    static func register(_ storeClass: AnyClass?, forStoreType storeType: String) {
        let found = storeClass as? NSPersistentStore.Type
        guard found != nil || storeClass == nil else { return }
        StoreClasses.shared.register(found, type: storeType)
    }

    /// Registers a class for a type of stores; nil removes the registration.
    public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: type.rawValue)
    }

    // MARK: - Ubiquity

    /// Removes a ubiquitous store.
    @available(*, unavailable, message: "Apple has withdrawn ubiquitous stores; they never existed elsewhere.")
    public class func removeUbiquitousContentAndPersistentStore(
        at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws {}
}
