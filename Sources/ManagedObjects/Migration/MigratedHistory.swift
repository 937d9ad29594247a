import Foundation
import ModelFiles

/// Copies the history of a store that is migrated by objects to the new store, and rewrites it for the new model.
struct MigratedHistory {
    let manager: NSMigrationManager
    let mappings: [NSEntityMapping]
    let source: NSPersistentStore
    let destination: NSPersistentStore

    /// Does nothing if the source has no history, or if the stores are of different types. The destination must have none, and
    /// its objects must have been saved.
    func copy() throws {
        if let source = source as? SQLiteStore, let destination = destination as? SQLiteStore {
            return try copy(from: source, to: destination)
        }
        #if PostgreSQL
            if let source = source as? PostgreSQLStore, let destination = destination as? PostgreSQLStore {
                try copy(from: source, to: destination)
            }
        #endif
    }

    /// The primary key in the new store of an object of an old entity; nil if the object does not exist.
    func newKey(_ entity: NSEntityDescription, _ key: Int64) -> Int64? {
        let name = mappings.first { $0.sourceEntityName == entity.name && $0.destinationEntityName != nil }?
            .destinationEntityName
        let root = name.flatMap { manager.stacks.destination.model.entitiesByName[$0] }?.rootEntity.name
        if let root, manager.rootsKeepingKeys.contains(root) { return key }
        let identifier = NSManagedObjectID(
            key: ObjectKey(store: source.number, entity: UInt16(truncatingIfNeeded: entity.index), number: key),
            entity: entity, storeIdentifier: source.identifier)
        return manager.associations.destinations(of: identifier, mapping: nil).first?.objectID.primaryKey
    }
}

extension NSEntityMapping {
    /// The names of the entities, and those of the source properties that the expressions name.
    var names: InferredMapping.Entity {
        func names(_ mappings: [NSPropertyMapping]?) -> [InferredMapping.Property] {
            (mappings ?? []).map { mapping in
                let text = mapping.valueExpression?.description ?? ""
                return .init(
                    name: mapping.name ?? "", sourceName: text.firstMatch(of: /\$source\.(\w+)/).map { String($0.1) })
            }
        }
        return InferredMapping.Entity(
            kind: .transform, sourceName: sourceEntityName, destinationName: destinationEntityName,
            attributes: names(attributeMappings), relationships: names(relationshipMappings))
    }
}
