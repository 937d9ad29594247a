import CoreData

#if !canImport(Darwin) && !CORAL_PUBLIC_API && PostgreSQL
    import struct ManagedObjects.PostgreSQLDraft

    /// A store in PostgreSQL that is created in a schema of its own before its tables are moved to the final one.
    struct ServerStoreDraft {
        private let draft: PostgreSQLDraft
        /// The draft location.
        var url: URL { draft.url }

        init(at destination: URL) throws { draft = try PostgreSQLDraft(for: destination) }

        func commit() throws { try draft.commit() }

        func remove() { draft.remove() }
    }
#else
    /// A store on a server that is created at its final location, and destroyed if it cannot be completed: Core Data's public API
    /// cannot move it.
    struct ServerStoreDraft {
        let url: URL

        init(at destination: URL) throws { url = destination }

        func commit() throws {}

        func remove() {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
            try? coordinator.destroyPersistentStore(at: url, ofType: url.storeType, options: nil)
        }
    }
#endif
