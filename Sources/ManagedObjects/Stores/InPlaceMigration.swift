import CoreDataErrors
import Foundation
import ModelFiles

/// The migration of a store in one transaction by SQL alone: Core Data's lightweight migration. Executed by
/// the store's class.
///
/// Cost: a pass over each table whose rows change, and one for each index that is created. Memory does not depend on the
/// number of rows.
package struct InPlaceMigration {
    package let url: URL
    package let configuration: String?
    package let options: [AnyHashable: Any]
    /// The model that the store was written with, and those that it is migrated to, in order. Each step must be one that can
    /// be inferred.
    package let models: [NSManagedObjectModel]
    /// Called before each statement that changes tables or rows of entities. An error ends the migration.
    package var willExecute: ((_ statement: String) throws -> Void)?
    /// Called with every statement that writes, with its values.
    package var didBegin: ((_ statement: String) -> Void)?
    /// Called after each statement that changes tables or rows of entities, with the completed part of all, from 0 to 1.
    package var didComplete: ((_ fraction: Double) -> Void)?
    /// Called repeatedly while a statement runs. A task that is cancelled ends the migration too.
    package var isCancelled: (() -> Bool)?

    /// A migration of the store at a location.
    ///
    /// - Parameters:
    ///   - configuration: The configuration whose entities the store has; nil for all.
    ///   - options: The options with which the store would be added to a coordinator.
    ///   - models: The model that the store was written with, and those that it is migrated to, in order.
    package init(
        url: URL, configuration: String? = nil, options: [AnyHashable: Any], models: [NSManagedObjectModel],
        willExecute: ((_ statement: String) throws -> Void)? = nil
    ) {
        self.url = url
        self.configuration = configuration
        self.options = options
        self.models = models
        self.willExecute = willExecute
    }

    /// Migrates the store. Other connections may have it open: with the old model they can no longer read or write.
    ///
    /// - Throws: Code 134111 if rows break a uniqueness constraint, 134120 if the migration is cancelled, 134100 if another
    ///   process has migrated the store to another version, 134090 if the store is locked, and 134110 for other errors of
    ///   SQLite, such as a full disk. The store is then unchanged.
    package func run() throws {
        try StoreClasses.database(at: url).migrate(self)
    }

    /// Whether a store has the version of one of the models.
    package func isFitting(_ model: NSManagedObjectModel, _ metadata: StoreMetadata) -> Bool {
        let known = metadata.content[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let hashes = model.entityVersionHashesByName
        guard model === models.last else { return known.allSatisfy { hashes[$0.key] == $0.value } }
        return model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata.published)
    }
}

/// The history of a store that was migrated by objects, as its new store copies and rewrites it.
package struct MigratedHistory {
    package let source: NSPersistentStore
    /// Which entity and which property of the old model became which of the new one.
    package let entities: [InferredMapping.Entity]
    /// The primary key in the new store of an object of an old entity; nil if the object does not exist.
    package let newKey: (NSEntityDescription, Int64) -> Int64?

    package init(
        source: NSPersistentStore, entities: [InferredMapping.Entity],
        newKey: @escaping (NSEntityDescription, Int64) -> Int64?
    ) {
        self.source = source
        self.entities = entities
        self.newKey = newKey
    }
}

extension InferredMapping {
    /// Infers the mapping of two models. Cost: a step for each property of each entity, and the version hashes where they are not known.
    package init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        self.init(
            from: (source.modelValue(), source.entityVersionHashesByName),
            to: (destination.modelValue(), destination.entityVersionHashesByName))
    }
}
