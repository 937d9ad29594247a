import CoreDataErrors
import Foundation

/// The migration of a store in one transaction by SQL alone: Core Data's lightweight migration. Executed by
/// `SQLiteInPlaceMigration` and `PostgreSQLInPlaceMigration`.
///
/// Cost: a pass over each table whose rows change, and one for each index that is created. Memory does not depend on the
/// number of rows.
package struct InPlaceMigration {
    let url: URL
    let configuration: String?
    let options: [AnyHashable: Any]
    /// The model that the store was written with, and those that it is migrated to, in order. Each step must be one that can
    /// be inferred.
    let models: [NSManagedObjectModel]
    /// Called before each statement that changes tables or rows of entities. An error ends the migration.
    var willExecute: ((_ statement: String) throws -> Void)?
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
        #if PostgreSQL
            guard url.isFileURL else { return try PostgreSQLInPlaceMigration(self).run() }
        #endif
        try SQLiteInPlaceMigration(migration: self).run()
    }

    // MARK: - Parts of both executions

    /// The error for a store that another process has migrated to another version.
    func otherVersion(_ metadata: StoreMetadata, url: URL) -> CocoaError {
        CocoaError(
            .persistentStoreIncompatibleVersionHash,
            "Another process has migrated the store to another version of the model.", url: url,
            userInfo: ["metadata": metadata.published, "reason": "The store has another version of the model."])
    }

    func isFitting(_ model: NSManagedObjectModel, _ metadata: StoreMetadata) -> Bool {
        let known = metadata.content[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let hashes = model.entityVersionHashesByName
        guard model === models.last else { return known.allSatisfy { hashes[$0.key] == $0.value } }
        return model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata.published)
    }

    /// The author of a migration's transaction.
    static func author(digest: String) -> String {
        "com.apple.coredata.schemamigrator: lightweight migration from model with digest { \(digest) }"
    }
}
