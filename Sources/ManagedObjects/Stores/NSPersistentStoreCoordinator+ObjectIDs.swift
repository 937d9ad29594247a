import Foundation

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

    /// The key in this coordinator of an ID of this or another coordinator; nil if no store here has the ID's UUID.
    final func key(for objectID: NSManagedObjectID) -> ObjectKey? {
        guard let referenced = objectID as? ReferencedObjectID else {
            return key(forURIRepresentation: objectID.uriRepresentation())
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
    final func objectID(for key: ObjectKey) -> NSManagedObjectID {
        var maker = ObjectIDMaker(self)
        return maker.objectID(for: key, entity: entities[Int(key.entity)])
    }
}
