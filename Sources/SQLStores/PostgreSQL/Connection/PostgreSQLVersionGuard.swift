#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import Synchronization

    /// Rejects work after another process has migrated the store: it would read rows of other entities, and write entity numbers
    /// of the old model.
    ///
    /// A migration ends the connections of other processes, so that it suffices to look when a connection is made. A pooler
    /// replaces ended connections without a word; there each transaction looks, before anything else.
    final class PostgreSQLVersionGuard: Sendable {
        private let tables: PostgreSQLTables
        private let model: NSManagedObjectModel
        private let configuration: String?
        private let url: URL?
        /// The digest of the metadata that was found to fit.
        private let fitting = Mutex<String?>(nil)

        init(_ tables: PostgreSQLTables, model: NSManagedObjectModel, configuration: String?, url: URL?) {
            self.tables = tables
            self.model = model
            self.configuration = configuration
            self.url = url
        }

        /// Looks at the store's version in a new connection.
        ///
        /// - Throws: Code 134100 if the store has another version.
        func verify(_ connection: PostgreSQLConnection) throws {
            guard let metadata = try tables.metadata(in: connection, url: url)?.published,
                !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
            else { return }
            throw CocoaError(
                .persistentStoreIncompatibleVersionHash,
                "The store has been migrated to another version of the model since it was opened. Open it with that version.",
                url: url,
                userInfo: [
                    "metadata": metadata,
                    "reason": "The model used to open the store is incompatible with the one used to create the store",
                ])
        }

        /// Begins a transaction of a pooled connection. A migration waits for its end, or has ended before it begins.
        ///
        /// - Parameter script: The statements that begin the transaction.
        /// - Throws: See ``verify(_:)``.
        func begin(_ script: String, in connection: PostgreSQLConnection) throws {
            // The lock comes first: a snapshot that is older than the migration would show the old metadata.
            let found = try connection.execute(
                script: script + "; LOCK TABLE Z_METADATA IN ACCESS SHARE MODE; "
                    + "SELECT md5(Z_PLIST) FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
            let digest = found.rowCount == 1 ? found.text(0, 0) : nil
            if digest != nil, fitting.withLock({ $0 }) == digest { return }
            try verify(connection)
            fitting.withLock { $0 = digest }
        }
    }
#endif
