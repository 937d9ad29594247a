#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient

    /// Replaces the tables of a store by those of another version of its model, which are filled in a schema beside it.
    ///
    /// Other processes can read the store while the new tables are filled, and writers wait. Then their connections are ended, and
    /// the tables are exchanged in the same transaction. A process with the old model finds the new version when it connects
    /// again. If anything fails, the store is as it was.
    package struct PostgreSQLReplacement {
        let url: URL
        /// The metadata with which the store was opened.
        let metadata: [String: Any]

        /// - Parameters:
        ///   - url: The store.
        ///   - metadata: Its metadata. The store is not replaced if another process has migrated it since they were read.
        package init(url: URL, metadata: [String: Any]) {
            self.url = url
            self.metadata = metadata
        }

        /// - Parameter fill: Creates and fills a store at a location.
        package func run(_ fill: (URL) throws -> Void) throws {
            let location = try PostgreSQLLocation(url)
            let draft = try PostgreSQLDraft(for: url)
            do {
                let connection = try PostgreSQLConnection(location.server, settings: location.settings)
                defer { connection.close() }
                do {
                    try replace(location, draft, connection) { try fill(draft.url) }
                } catch {
                    if connection.isOpen { _ = try? connection.execute(script: "ROLLBACK") }
                    draft.remove()
                    throw error
                }
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: url)
            }
        }

        private func replace(
            _ location: PostgreSQLLocation, _ draft: PostgreSQLDraft, _ connection: PostgreSQLConnection,
            _ fill: () throws -> Void
        ) throws {
            let tables = PostgreSQLTables(location: location)
            try connection.execute(script: "BEGIN; \(tables.lock)")
            guard
                let (catalog, stored) = try tables.existing(
                    in: connection, url: PostgreSQLLocation.withoutPassword(url)),
                NSDictionary(dictionary: Self.hashes(stored.published)).isEqual(to: Self.hashes(metadata))
            else {
                throw CocoaError(
                    .persistentStoreIncompatibleVersionHash,
                    "Another process has migrated the store to another version of the model.",
                    url: PostgreSQLLocation.withoutPassword(url))
            }
            let old = try PostgreSQLStore.tableNames(catalog, in: connection)
            try connection.execute(script: "LOCK TABLE \(old.joined(separator: ", ")) IN SHARE MODE")
            try fill()
            try tables.lockOutOthers(in: connection)
            let statements =
                try PostgreSQLStore.drops(catalog, tables, in: connection) + draft.moves(in: connection) + ["COMMIT"]
            try connection.execute(script: statements.joined(separator: ";\n"))
        }

        private static func hashes(_ metadata: [String: Any]) -> [String: Any] {
            metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]
        }
    }
#endif
