import AtomicFiles
import CoreData

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    import SQLiteConnections

    /// A store that is created in a draft location before it is moved to its final one. Uses the engine's replacement,
    /// which links and renames files.
    struct StoreDraft {
        private let replacement: StoreReplacement
        /// The draft location.
        var url: URL { replacement.url }
        /// The final location, without symbolic links.
        var destination: URL { replacement.destination }

        init(at destination: URL, model: NSManagedObjectModel) throws {
            replacement = try StoreReplacement(at: destination)
        }

        /// A copy of a store in ``workFolder``. Later changes of the store do not affect it.
        ///
        /// - Parameter isLocked: Whether the store is the one at ``destination``, which is then locked until it is replaced.
        func copy(of url: URL, isLocked: Bool) throws -> URL {
            if isLocked { return try replacement.copyLocked() }
            let copy = workFolder.appendingPathComponent(url.lastPathComponent)
            try StepExecution.copy(url, to: copy, model: NSManagedObjectModel())
            return copy
        }

        func commit(replacing occupant: StoreCreation.Occupant) throws {
            try replacement.commit(
                replacing: {
                    switch occupant {
                    case .nothing: .nothing
                    case .store: .store
                    case .file: .file
                    }
                }())
        }
    }
#else
    /// A store that is created in a draft location before Core Data copies it to its final one: only Core Data can
    /// safely replace a store in use.
    struct StoreDraft {
        private let folder: PartialFolder
        private let model: NSManagedObjectModel
        /// The draft location.
        var url: URL { folder.item }
        /// The final location, without symbolic links.
        var destination: URL { folder.destination }

        init(at destination: URL, model: NSManagedObjectModel) throws {
            self.model = model
            do {
                folder = try PartialFolder(for: destination)
            } catch let error as FileError {
                throw CocoaError(
                    .fileWriteUnknown,
                    userInfo: [NSLocalizedDescriptionKey: error.description, NSFilePathErrorKey: destination.path])
            }
        }

        /// A copy of a store in ``workFolder``. Core Data cannot lock the store: it must not be in use.
        func copy(of url: URL, isLocked: Bool) throws -> URL {
            let copy = workFolder.appendingPathComponent(url.lastPathComponent)
            try StepExecution.copy(url, to: copy, model: model)
            return copy
        }

        func commit(replacing occupant: StoreCreation.Occupant) throws {
            if occupant == .nothing, FileStatus(destination.path) != nil {
                throw CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: destination.path])
            }
            if occupant == .file, FileStatus(destination.path)?.isRegular == true, !isStore(destination) {
                try FileManager.default.removeItem(at: destination)
            }
            try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
                at: destination, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
                ofType: NSSQLiteStoreType)
            folder.remove()
        }

        private func isStore(_ url: URL) -> Bool {
            let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: url, options: [NSReadOnlyPersistentStoreOption: true])
            return metadata != nil
        }
    }
#endif

extension StoreDraft {
    /// A folder for files that are needed until the store is moved to its final location.
    var workFolder: URL { url.deletingLastPathComponent().appendingPathComponent("source", isDirectory: true) }
}

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
