import Foundation
import ModelFiles
import Synchronization

// Keys of the options that a store is added with, and of its metadata.

// MARK: - Options of every store

/// Whether the store is opened read-only: a Boolean.
public let NSReadOnlyPersistentStoreOption: String = "NSReadOnlyPersistentStoreOption"

/// The time to wait for a locked store: a number of seconds.
public let NSPersistentStoreTimeoutOption: String = "NSPersistentStoreTimeoutOption"

/// Whether to open the store although its version hashes differ from the model's: a Boolean.
public let NSIgnorePersistentStoreVersioningOption: String = "NSIgnorePersistentStoreVersioningOption"

/// Whether to migrate a store of another model version when it is added: a Boolean. A mapping model of the two versions
/// is searched in the program's bundles; see also ``NSInferMappingModelAutomaticallyOption``.
public let NSMigratePersistentStoresAutomaticallyOption: String = "NSMigratePersistentStoresAutomaticallyOption"

/// Whether a migration may infer the mapping model if the bundles have none: a Boolean. See
/// ``NSMappingModel/inferredMappingModel(forSourceModel:destinationModel:)``.
public let NSInferMappingModelAutomaticallyOption: String = "NSInferMappingModelAutomaticallyOption"

/// Whether the store keeps a history of its changes: a Boolean.
public let NSPersistentHistoryTrackingKey: String = "NSPersistentHistoryTrackingKey"

/// Whether the store keeps, beside its history, the values that properties had before they were updated and that objects had
/// before they were deleted: a Boolean. An addition to Core Data's API; no effect without ``NSPersistentHistoryTrackingKey``.
///
/// The values are in two tables of this package's own, which Apple's framework does not read, and are deleted with the
/// transactions that they belong to. Every way of writing keeps them. Cost: a trigger for each updated or deleted row, and a
/// row for each changed column. See ``NSPersistentHistoryChange/propertyChanges()``.
public let HistoryOldValuesOption: String = "CoralHistoryOldValuesOption"

/// Whether saves to a store in PostgreSQL that keeps a history are committed at the same time: a Boolean. An addition to Core Data's
/// API; no effect without ``NSPersistentHistoryTrackingKey``, and on stores in files.
///
/// Without the option, each save waits for the commit of the one before, which has the previous number in the history. With it,
/// transactions are numbered by the server's own transaction IDs, and several commits share a write to the disk. The numbers have
/// gaps. They increase from a transaction to each one that saw or overwrote its changes. The history shows a transaction when all
/// those of the store that began before it have ended, so that no reader ever skips one. A fetch of history and
/// ``NSPersistentStoreCoordinator/currentPersistentHistoryToken(fromStores:)`` wait for them for up to a second. If one stays open
/// for longer, the later ones, also the program's own, are left out until it ends, and observers are then notified once more.
///
/// The store keeps this numbering from the first time that it is opened with the option, for every program: programs with an earlier
/// version of this package cannot save to it any more.
public let ConcurrentHistoryOption: String = "CoralConcurrentHistoryOption"

/// The number of transactions in a partition of the history of a store in PostgreSQL: an integer. An addition to Core Data's API; no effect
/// without ``NSPersistentHistoryTrackingKey``, on stores in files, and on a history that exists.
///
/// The tables of the history are then partitioned by the numbers of the transactions. Deleting the oldest part of the history drops
/// whole partitions, which takes the same time whatever they contain and leaves no space to be reclaimed, and deletes the other rows. A
/// partition that a transaction has read is not dropped until that ends: its rows are deleted instead. With ``ConcurrentHistoryOption``
/// the numbers have gaps, because the server's transactions of other stores count too.
///
/// Copies of the store, and a store that has been moved to another server, have a history without partitions.
public let HistoryPartitionWidthOption: String = "CoralHistoryPartitionWidthOption"

/// Whether to post ``Foundation/NSNotification/Name/NSPersistentStoreRemoteChange``: a Boolean.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey: String =
    "NSPersistentStoreRemoteChangeNotificationOptionKey"

/// Whether to destroy a store's files even if they cannot be opened: a Boolean.
public let NSPersistentStoreForceDestroyOption: String = "NSPersistentStoreForceDestroyOption"

/// The protection class of the store's files. Has no effect off Apple's platforms.
public let NSPersistentStoreFileProtectionKey: String = "NSPersistentStoreFileProtectionKey"

/// Whether a migration in place may postpone the removal of columns and tables that the new model does not have: a
/// Boolean. The same key in a store's metadata is true until they are removed. See
/// ``NSPersistentStoreCoordinator/finishDeferredLightweightMigration()``.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey: String =
    StoreMetadataKeys.deferredMigration

/// The key of the URL, without a password, to which a store was moved: in the user info of the error, with code 134080, of programs
/// that open or use it at its former place. An addition to Core Data's API.
///
/// A server catches the error, learns the new place from its directory of stores or from this URL, and opens the store there.
public let MovedStoreURLErrorKey: String = "CoralMovedStoreURL"

// MARK: - Options of SQLite stores

/// Pragmas to execute on each connection: a dictionary from names to values.
///
/// Without these pragmas, `journal_mode` is `wal`, `synchronous` is `normal` with that mode and `full` with others, and
/// `cache_size` is -16000: the page cache of the connection that writes grows to 16 MB, where it holds the indexes of some million
/// rows. Up to ``NSPersistentStoreConnectionPoolMaxSizeKey`` other connections read at once, with 8 MB each.
public let NSSQLitePragmasOption: String = "NSSQLitePragmasOption"

/// Whether to run `ANALYZE` when the store is added: a Boolean.
public let NSSQLiteAnalyzeOption: String = "NSSQLiteAnalyzeOption"

/// Whether to run `VACUUM` when the store is added: a Boolean.
public let NSSQLiteManualVacuumOption: String = "NSSQLiteManualVacuumOption"

/// The maximum number of concurrent readers besides the connection that writes: a number.
///
/// The connection that writes also reads, until a fetch and a save, or two fetches, meet. A save that meets the first one waits for
/// its end, unless it is asynchronous.
public let NSPersistentStoreConnectionPoolMaxSizeKey: String = "NSPersistentStoreConnectionPoolMaxSize"

/// The URL of a store of the same version of the model, from which a new store takes the names of its join tables and of
/// their columns, and the numbers of its entities. An addition to Core Data's API; no effect on a store that exists.
///
/// Programs with SQL of their own, and Apple's framework, expect the names that Apple's framework has chosen. For a
/// relationship whose inverse is in the same entity its choice follows no known rule. The other store is only read. Adding
/// the new store throws code 134100 if the other one has another model, code 134020 if it lacks a join table, and the error
/// of opening it.
public let JoinTableNamesOption: String = "CoralJoinTableNamesOption"

// MARK: - Options of binary stores

/// Whether a binary store may decode any class: a Boolean.
public let NSBinaryStoreInsecureDecodingCompatibilityOption: String =
    "NSBinaryStoreInsecureDecodingCompatibilityOption"

/// Further classes that a binary store may decode: a set.
public let NSBinaryStoreSecureDecodingClasses: String = "NSBinaryStoreSecureDecodingClasses"

// MARK: - Metadata

/// The key of a store's type in its metadata.
public let NSStoreTypeKey: String = "NSStoreType"

/// The key of a store's UUID in its metadata.
public let NSStoreUUIDKey: String = "NSStoreUUID"

/// The key of the version hashes of the model's entities in a store's metadata: a dictionary from names to data.
public let NSStoreModelVersionHashesKey: String = "NSStoreModelVersionHashes"

/// The key of the checksum of the model in a store's metadata: ``NSManagedObjectModel/versionChecksum``.
public let NSPersistentStoreModelVersionChecksumKey: String = "NSStoreModelVersionChecksumKey"

/// The key of the model's version identifiers in a store's metadata.
public let NSStoreModelVersionIdentifiersKey: String = "NSStoreModelVersionIdentifiers"

/// The key of the earliest system that can read the store, in its metadata.
public let NSPersistentStoreOSCompatibility: String = "NSPersistentStoreOSCompatibility"

// MARK: - Resources of several stores

/// The option of stores that share connections and mappings. Its value is a ``SharedResources``.
package let SharedResourcesOption = "CoralSharedResources"

/// What the open stores of a pool share: connections to a server, and what depends on the model and the tables alone.
///
/// A resource lasts as long as a store has it. So connections are closed with the last store, and tenants whose tables differ
/// leave nothing behind.
package final class SharedResources: NSObject, Sendable {
    /// The maximum number of connections to one server.
    package let connectionLimit: Int

    private let resources = Mutex<[Key: Resource]>([:])

    private struct Key: Hashable, @unchecked Sendable {  // because its value is
        let value: AnyHashable

        init(_ value: some Hashable & Sendable) { self.value = AnyHashable(value) }
    }

    private struct Resource: Sendable {
        weak var object: (any AnyObject & Sendable)?
    }

    package init(connectionLimit: Int) { self.connectionLimit = connectionLimit }

    /// The number of resources that stores have, and of those that were released since one was added.
    package var count: Int { resources.withLock { $0.count } }

    /// The resource with a key. If no open store has it, it is created.
    package func resource<Object: AnyObject & Sendable>(
        of key: some Hashable & Sendable, create: () throws -> Object
    ) rethrows -> Object {
        let key = Key(key)
        if let shared = resources.withLock({ $0[key]?.object }) as? Object { return shared }
        let created = try create()
        return resources.withLock { resources in
            // Another thread may have created the resource since the lookup above.
            if let shared = resources[key]?.object as? Object { return shared }
            resources = resources.filter { $0.value.object != nil }
            resources[key] = Resource(object: created)
            return created
        }
    }
}

// MARK: - Ubiquity, which Apple has withdrawn

/// The name of a ubiquitous store. Accepted without effect.
public let NSPersistentStoreUbiquitousContentNameKey: String = "NSPersistentStoreUbiquitousContentNameKey"

/// The location of a ubiquitous store's logs. Accepted without effect.
public let NSPersistentStoreUbiquitousContentURLKey: String = "NSPersistentStoreUbiquitousContentURLKey"

/// The identifier of a user of a ubiquitous store. Accepted without effect.
public let NSPersistentStoreUbiquitousPeerTokenOption: String = "NSPersistentStoreUbiquitousPeerTokenOption"

/// Whether to remove a store's ubiquity metadata. Accepted without effect.
public let NSPersistentStoreRemoveUbiquitousMetadataOption: String = "NSPersistentStoreRemoveUbiquitousMetadataOption"

/// The container of a ubiquitous store. Accepted without effect.
public let NSPersistentStoreUbiquitousContainerIdentifierKey: String =
    "NSPersistentStoreUbiquitousContainerIdentifierKey"

/// Whether to rebuild a ubiquitous store from its logs. Accepted without effect.
public let NSPersistentStoreRebuildFromUbiquitousContentOption: String =
    "NSPersistentStoreRebuildFromUbiquitousContentOption"
