#if PostgreSQL
    import Coral
    import Foundation
    import Testing

    @testable import CoralCommand

    /// The server of the tests.
    private enum PostgreSQLServer {
        /// The URL of its database; nil if there is none.
        static let url: String? = ProcessInfo.processInfo.environment["CORAL_POSTGRESQL"]
    }

    /// Every store of the corpus that contains its model is copied to PostgreSQL by the command, and back into a file.
    @Suite(
        .serialized,
        .enabled(
            if: !Corpus.stores.isEmpty && PostgreSQLServer.url != nil,
            "The files of the corpus are not here, or CORAL_POSTGRESQL names no server."))
    struct PostgreSQLCopyTests {
        @Test(arguments: Corpus.stores)
        func `a store on a server and its copy in a file do not differ from it`(_ original: URL) throws {
            let copy = try StoreCopy(original)
            guard let model = try StoreInspection(url: copy.url).cachedModel else { return }
            let server = try #require(PostgreSQLServer.url)
            let schema = "corpus_" + UUID().uuidString.prefix(13).lowercased()
            let url = server + (server.contains("?") ? "&" : "?") + "schema=" + schema
            defer {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                if let url = URL(string: url) {
                    try? coordinator.destroyPersistentStore(at: url, ofType: url.storeType, options: nil)
                }
            }
            try ImportCommand.parse([copy.url.path, "--restore", "--into", url, "--quiet"]).run()
            // Throws if there are differences.
            try DiffCommand.parse([copy.url.path, url, "--quiet"]).run()
            let back = copy.folder.appendingPathComponent("Back.sqlite").path
            try ImportCommand.parse([url, "--restore", "--into", back, "--quiet"]).run()
            try DiffCommand.parse([url, back, "--quiet"]).run()
            try DiffCommand.parse([copy.url.path, back, "--quiet"]).run()
        }
    }
#endif
