import CoreData

#if !canImport(Darwin) && !CORAL_PUBLIC_API && PostgreSQL
    import struct ManagedObjects.PostgreSQLReplacement

    /// The replacement of a store in PostgreSQL by its other version, in one transaction.
    enum ServerStoreReplacement {
        /// Whether a store can be replaced.
        static let isPossible = true

        /// Replaces a store. Until it ends, other connections can read the store, and connections that write wait.
        ///
        /// - Parameter fill: Creates and fills a store at a location.
        static func run(at url: URL, _ fill: (URL) throws -> Void) throws {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: url.storeType, at: url, options: nil)
            try PostgreSQLReplacement(url: url, metadata: metadata).run(fill)
        }
    }
#else
    /// Core Data's public API cannot lock a store on a server, so a store is not replaced.
    enum ServerStoreReplacement {
        static let isPossible = false

        static func run(at url: URL, _ fill: (URL) throws -> Void) throws {
            throw CocoaError(.featureUnsupported, userInfo: [NSURLErrorKey: url.withoutPassword])
        }
    }
#endif
