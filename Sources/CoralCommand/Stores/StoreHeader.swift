import Coral

/// What a command reads of a store before it opens it.
struct StoreHeader {
    let metadata: [String: Any]
    #if !canImport(Darwin)
        /// What was read together with the store's own model; nil if the model was given.
        let inspection: StoreInspection?
    #endif

    /// Reads the metadata of a store whose model is known. Throws errors of Core Data's.
    init(ofStoreAt url: URL) throws {
        metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: url.storeType, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        #if !canImport(Darwin)
            inspection = nil
        #endif
    }

    #if !canImport(Darwin)
        init(_ inspection: StoreInspection) {
            metadata = inspection.metadata
            self.inspection = inspection
        }

        /// The store's journal mode. Throws errors of Core Data's.
        func journalMode(of url: URL) throws -> String { try inspect(url).journalMode }

        /// A warning that a process ended during a transaction; nil if none did. Throws errors of Core Data's.
        func warningOfUnfinishedTransaction(of url: URL) throws -> String? {
            // Only such a store has a journal, so that others need not be inspected for this.
            guard FileManager.default.fileExists(atPath: url.resolvingSymlinksInPath().path + "-journal") else {
                return nil
            }
            let inspection = try inspect(url)
            return inspection.hasUnfinishedTransaction ? inspection.journalState : nil
        }

        private func inspect(_ url: URL) throws -> StoreInspection { try inspection ?? StoreInspection(url: url) }
    #endif
}
