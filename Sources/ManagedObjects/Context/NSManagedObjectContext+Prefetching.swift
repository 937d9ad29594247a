import Foundation

// Relationships loaded in advance for the objects of a fetch.

extension NSManagedObjectContext {
    /// Loads relationships of fetched objects in advance: at most two statements for each step of a key path. Objects
    /// that do not have the relationship are skipped.
    final func prefetch(_ keyPaths: [String], of objects: [NSManagedObject]) {
        for keyPath in keyPaths {
            var reached = objects
            for step in keyPath.split(separator: ".").map(String.init) {
                var next: [NSManagedObject] = []
                var seen: Set<ObjectIdentifier> = []
                for object in reached {
                    switch object.field(of: step) {
                    case .toMany(let index):
                        next += object.members(at: index).filter { seen.insert(ObjectIdentifier($0)).inserted }
                    case .slot(let slot) where object.layout.slots[slot].kind == .toOne:
                        if let target = object.relatedObject(slot: slot), seen.insert(ObjectIdentifier(target)).inserted
                        {
                            next.append(target)
                        }
                    default: continue
                    }
                }
                for object in next { realiseAsRead(object) }
                reached = next
            }
        }
    }

    /// Checks the key paths to prefetch.
    ///
    /// - Throws: `CocoaError.coreData` for a step that is not a relationship of the entity or of one that inherits from
    ///   it.
    final func requireRelationships(_ keyPaths: [String], of entity: NSEntityDescription) throws {
        for keyPath in keyPaths {
            var reached = [entity]
            for step in keyPath.split(separator: ".").map(String.init) {
                let relationships = reached.flatMap(\.withSubentities).compactMap { $0.relationshipsByName[step] }
                guard !relationships.isEmpty else { throw CocoaError.missingRelationship(step, of: reached[0]) }
                reached = relationships.compactMap(\.destinationEntity)
            }
        }
    }
}

extension CocoaError {
    fileprivate static func missingRelationship(_ name: String, of entity: NSEntityDescription) -> CocoaError {
        CocoaError(
            .coreData,
            userInfo: [
                NSLocalizedDescriptionKey: "\(entity.name ?? "") has no relationship \"\(name)\" to prefetch."
            ])
    }
}
