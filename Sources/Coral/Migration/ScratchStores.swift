import CoreData

/// The locations of the stores between the steps of a migration: files in a folder, or, for a store in PostgreSQL, other
/// schemas of its database.
final class ScratchStores {
    private enum Parent {
        case folder(URL, name: String)
        case server(URL)
    }

    private let parent: Parent
    private var count = 0
    private var schemas: [URL] = []

    /// Locations for files with a name in folders of a folder.
    init(in folder: URL, named name: String) { parent = .folder(folder, name: name) }

    /// Locations for copies of a store, in a new temporary folder if it is in a file.
    init(forCopiesOf url: URL) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coral-copies-\(UUID().uuidString)")
        parent = url.isOfServer ? .server(url) : .folder(folder, name: url.lastPathComponent)
    }

    /// The next location, at which there is no store.
    func next() throws -> URL {
        count += 1
        switch parent {
        case .folder(let folder, let name):
            let folder = folder.appendingPathComponent("step\(count)", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder.appendingPathComponent(name)
        case .server(let url):
            let url = url.withSchema("coral_copy_" + UUID().uuidString.prefix(8).lowercased())
            schemas.append(url)
            return url
        }
    }

    /// Removes all stores.
    func remove() {
        if case .folder(let folder, _) = parent { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        for url in schemas { try? coordinator.destroyPersistentStore(at: url, ofType: url.storeType, options: nil) }
    }
}
