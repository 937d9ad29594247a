import CoreDataErrors
import Foundation
import ManagedObjects

// Parts of the migrations of both databases.

extension InPlaceMigration {
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
