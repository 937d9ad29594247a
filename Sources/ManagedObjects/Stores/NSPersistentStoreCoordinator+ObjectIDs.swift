import CoreDataErrors
import Foundation
import StoreSupport

// Object IDs, URIs and keys of the coordinator's stores.

extension NSPersistentStoreCoordinator {
    /// The key of a URI. A temporary object's URI has a key only in the process that created it.
    final func key(forURIRepresentation url: URL) -> ObjectKey? {
        guard let uri = ObjectURI(url), let entity = model.entitiesByName[uri.entityName] else { return nil }
        let index = UInt16(truncatingIfNeeded: entity.index)
        switch uri.form {
        case .row(let identifier, let number):
            guard let entry = entry(identifier: identifier) else { return nil }
            let own = entry.store.references.map { $0.number(of: String(number), entity: entity) }
            return ObjectKey(store: entry.number, entity: index, number: own ?? number)
        case .reference(let identifier, let text):
            // Used as it is in the URI: Core Data does not decode the percent escapes either.
            guard let entry = entry(identifier: identifier), let references = entry.store.references else { return nil }
            return ObjectKey(store: entry.number, entity: index, number: references.number(of: text, entity: entity))
        case .temporary(let process, let number):
            guard process == NSManagedObjectID.processIdentifier else { return nil }
            return ObjectKey(store: 0, entity: index, number: -number)
        }
    }

    /// The key in this coordinator of a permanent ID of this or another coordinator; nil if no store here has the ID's UUID.
    package final func key(for objectID: NSManagedObjectID) -> ObjectKey? {
        let (key, store) = (objectID.key, persistentStore(number: objectID.key.store))
        if store?.isOrigin(objectID.origin) == true { return key }
        if objectID.isOf(self) || !(objectID is ReferencedObjectID), store?.identifier == objectID.storeIdentifier,
            Int(key.entity) < entities.count, entities[Int(key.entity)].name == objectID.entity.name
        {
            return key
        }
        guard let referenced = objectID as? ReferencedObjectID else {
            return self.key(forURIRepresentation: objectID.uriRepresentation())
        }
        guard let entity = model.entitiesByName[referenced.entity.name ?? ""],
            let entry = entry(identifier: referenced.storeIdentifier ?? ""), let references = entry.store.references
        else { return nil }
        return ObjectKey(
            store: entry.number, entity: UInt16(truncatingIfNeeded: entity.index),
            number: references.number(of: referenced.text, entity: entity))
    }

    final func entry(identifier: String) -> Entry? {
        entries.first { $0.store.identifier?.caseInsensitiveCompare(identifier) == .orderedSame }
    }

    /// The ID of a key of this coordinator.
    package final func objectID(for key: ObjectKey) -> NSManagedObjectID {
        var maker = ObjectIDMaker(self)
        return maker.objectID(for: key, entity: entities[Int(key.entity)])
    }
}

// The store in which a new object is saved.

extension NSPersistentStoreCoordinator {
    /// The store in which a new object of the entity is saved: the store that it was assigned to, otherwise the first
    /// writable one that contains the entity.
    ///
    /// - Throws: Code 134020 if no store contains the entity.
    final func rowStore(for entity: NSEntityDescription, assigned: NSPersistentStore?) throws -> any RowStore {
        let entries = entries
        if let assigned {
            guard let entry = entries.first(where: { $0.store === assigned }) else {
                throw CocoaError(
                    .persistentStoreIncompatibleSchema,
                    "An object of “\(entity.name ?? "")” is assigned to a store that the coordinator does not have.",
                    url: assigned.url)
            }
            guard holds(entry.store, entity) else {
                throw CocoaError(
                    .persistentStoreIncompatibleSchema,
                    "The store's configuration “\(assigned.configurationName)” lacks “\(entity.name ??  "")”.",
                    url: assigned.url)
            }
            return entry.rows
        }
        let holding = entries.filter { holds($0.store, entity) }
        if let entry = holding.first(where: { !$0.store.isReadOnly }) ?? holding.first { return entry.rows }
        throw CocoaError(
            .persistentStoreIncompatibleSchema,
            entries.isEmpty
                ? "The coordinator has no persistent stores: an object of “\(entity.name ?? "")” cannot be saved."
                : "No store of the coordinator contains the entity “\(entity.name ?? "")”.")
    }

    /// Whether a store has objects of the entity.
    final func holds(_ store: NSPersistentStore, _ entity: NSEntityDescription) -> Bool {
        guard let configuration = store.configurationIfAny else { return true }
        return model.storedEntities(forConfigurationName: configuration)?.contains { $0.name == entity.name } ?? false
    }
}

// Blocks that return a result. What programs may override is in the class.

extension NSPersistentStoreCoordinator {
    /// Runs a block on the coordinator's queue, waits for it, and returns its result.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        try isOnQueue ? block() : queue.sync(execute: block)
    }

    /// Runs a block on the coordinator's queue and returns its result, in the isolation of the caller.
    public func perform<T, E: Error>(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping () throws(E) -> T
    ) async throws(E) -> T {
        nonisolated(unsafe) let block = block  // because the block is run once, on the queue
        nonisolated(unsafe) var result: Result<T, E>?  // because it is read after the queue has set it
        await withCheckedContinuation(isolation: isolation) { (continuation: CheckedContinuation<Void, Never>) in
            queue.async {
                do throws(E) {
                    result = .success(try block())
                } catch {
                    result = .failure(error)
                }
                continuation.resume()
            }
        }
        guard let result else { preconditionFailure("The coordinator's queue did not run the block.") }
        return try result.get()
    }
}
