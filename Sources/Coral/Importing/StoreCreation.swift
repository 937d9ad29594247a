import CoreData
import GraphDocuments

/// Makes SQLite stores for documents to be imported into.
public enum StoreCreation {
    /// Makes an empty store at a location where there is none. The model that the store keeps of itself is the given one.
    ///
    /// Throws errors of Core Data's.
    ///
    /// - Parameters:
    ///   - url: Where the store is made.
    ///   - model: The model of the store.
    ///   - header: The document whose UUID and metadata the store gets; nil for a UUID of its own.
    public static func createStore(
        at url: URL, model: NSManagedObjectModel, header: DocumentHeader? = nil
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        try coordinator.remove(store)
        guard let header else { return }
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: url, options: nil)
        if let uuid = header.storeUUID { metadata[NSStoreUUIDKey] = uuid }
        for member in header.metadata { metadata[member.name] = member.value.propertyList }
        try NSPersistentStoreCoordinator.setMetadata(
            metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: url, options: nil)
    }

    /// Removes a store and the files beside it. For what was just made and could not be filled.
    public static func removeStore(at url: URL, model: NSManagedObjectModel) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try? coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }
}

extension ReadableValue {
    /// The tree as a property list has it. Readers have limited its depth.
    var propertyList: Any {
        switch self {
        case .array(let values): values.map(\.propertyList)
        case .dictionary(let members):
            Dictionary(members.map { ($0.name, $0.value.propertyList) }, uniquingKeysWith: { $1 })
        case .value(let value):
            switch value {
            case .bool(let value): NSNumber(value: value)
            case .integer(let value): NSNumber(value: value)
            case .double(let value): NSNumber(value: value)
            case .float(let value): NSNumber(value: value)
            case .decimal(let value): NSDecimalNumber(decimal: value)
            case .string(let value), .uri(let value): value
            case .date(let value): Date(timeIntervalSinceReferenceDate: value)
            case .data(let value): value
            case .uuid(let value): value.uuidString
            case .null, .composite, .transformable, .file: ""
            }
        }
    }
}
