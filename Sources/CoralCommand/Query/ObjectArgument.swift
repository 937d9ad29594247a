import ArgumentParser
import Coral

/// An object on the command line: its URI, or its short name such as `Note/p3`.
struct ObjectArgument: ExpressibleByArgument {
    /// The argument as it was written.
    let text: String
    /// The UUID of the store, if a URI was given.
    let storeUUID: String?
    private let entity: String
    private let key: String

    init?(argument: String) {
        text = argument
        let scheme = "x-coredata://"
        let isURI = argument.lowercased().hasPrefix(scheme)
        var parts = (isURI ? argument.dropFirst(scheme.count) : argument[...]).split(
            separator: "/", omittingEmptySubsequences: false
        ).map(String.init)
        storeUUID = isURI && !parts.isEmpty ? parts.removeFirst() : nil
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        entity = parts[0]
        let digits = parts[1].hasPrefix("p") ? parts[1].dropFirst() : parts[1][...]
        guard let number = Int64(digits), number > 0 else { return nil }
        key = "p\(number)"
    }

    /// The object in an open store. Must be called on the queue of the store's context.
    ///
    /// - Parameter context: The context of the object; nil for that of the store.
    /// - Throws: `CommandError` if the URI is one of another store, or if there is no such object; errors of reading.
    func object(in open: OpenStore, context: NSManagedObjectContext? = nil) throws -> NSManagedObject {
        let own = open.store.identifier ?? ""
        if let storeUUID, storeUUID.caseInsensitiveCompare(own) != .orderedSame {
            throw CommandError("\(text) is an object of the store \(storeUUID), and \(open.url.storeName) is \(own).")
        }
        // The name of the entity may be that of a superentity.
        _ = try open.entity(named: entity)
        let absent = CommandError("The store has no object \(entity)/\(key).")
        guard let id = id(in: open) else { throw absent }
        do {
            return try (context ?? open.context).existingObject(with: id)
        } catch let error as CocoaError where error.errorCode == NSManagedObjectReferentialIntegrityError {
            throw absent
        }
    }

    /// The ID of the object, whether or not there is one; nil for an entity that the model does not have.
    func id(in open: OpenStore) -> NSManagedObjectID? {
        URL(string: "x-coredata://\(open.store.identifier ?? "")/\(entity)/\(key)")
            .flatMap(open.coordinator.managedObjectID(forURIRepresentation:))
    }
}
