import Foundation
import ManagedObjects
import Synchronization

/// Caches the sections of results by name for the lifetime of the process.
///
/// An entry is valid for a list of rows and their versions: the same rows in the same order have the same sections.
enum SectionCache {
    private struct Entry: Sendable {
        let keyPath: String
        let rows: [Row]
        let sections: [ResultsList.Section]
    }

    private struct Row: Hashable, Sendable {
        let store: String
        let entity: UInt16
        let number: Int64
        let version: Int64
    }

    private static let entries = Mutex<[String: Entry]>([:])

    /// Removes the entry of a name, or all entries.
    static func remove(_ name: String?) {
        entries.withLock { entries in
            if let name { entries[name] = nil } else { entries = [:] }
        }
    }

    /// Divides fetched objects into sections: from the cache if its entry is valid, otherwise by reading each object's
    /// section name.
    ///
    /// - Throws: Code 134060 if the objects of a section are not adjacent.
    static func list(
        of objects: [NSManagedObject], for request: FollowedRequest, in context: NSManagedObjectContext,
        cacheName: String?
    ) throws -> ResultsList {
        guard let cacheName, let keyPath = request.naming.keyPath, isStored(keyPath, of: request.entity),
            let rows = rows(of: objects, in: context)
        else { return try ResultsList(objects, named: request.naming) }
        if let known = entries.withLock({ $0[cacheName] }), known.keyPath == keyPath, known.rows == rows {
            return ResultsList(ResultsObjects(objects), sections: known.sections)
        }
        let list = try ResultsList(objects, named: request.naming)
        entries.withLock { $0[cacheName] = Entry(keyPath: keyPath, rows: rows, sections: list.sections) }
        return list
    }

    /// Whether a key path is an attribute stored in the row, so that its value cannot change without the row's version.
    private static func isStored(_ keyPath: String, of entity: NSEntityDescription) -> Bool {
        entity.attributesByName[keyPath].map { !$0.isTransient && !($0 is NSDerivedAttributeDescription) } ?? false
    }

    /// The rows of objects; nil if objects have unsaved changes or have not been read yet.
    private static func rows(of objects: [NSManagedObject], in context: NSManagedObjectContext) -> [Row]? {
        guard !context.hasUnsavedChanges, let coordinator = context.rootCoordinator else { return nil }
        var identifiers: [UInt16: String] = [:]
        var rows: [Row] = []
        rows.reserveCapacity(objects.count)
        for object in objects {
            guard !object.key.isTemporary, object.page.map({ $0.fetched == nil }) ?? !object.isFaultInternally,
                let store = identifiers[object.key.store]
                    ?? coordinator.persistentStore(number: object.key.store)?.identifier
            else { return nil }
            identifiers[object.key.store] = store
            rows.append(
                Row(store: store, entity: object.key.entity, number: object.key.number, version: object.version))
        }
        return rows
    }
}
