import Coral
import NotesModel

/// A folder with a small store: two notes with an item each, a tag that both have, and who wrote the first.
final class NotesStore {
    let folder: URL
    let url: URL
    var path: String { url.path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("Notes.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let tag = make("Tag", ["name": "home"])
            let author = make("Person", ["name": "Ada", "site": URL(string: "https://example.com/a?b&c") as Any])
            for (rank, title) in ["Groceries", "Garden, \"big\""].enumerated() {
                let note = make("Note", ["title": title, "rank": Double(rank), "tags": NSSet(object: tag)])
                if rank == 0 { note.setValue(author, forKey: "author") }
                _ = make("Item", ["name": "Item <\(rank)>", "quantity": Int64(rank), "note": note])
                // Saved one after the other, so that keys follow the order.
                try context.save()
            }
        }
        try coordinator.remove(store)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// The bytes of all files in the folder, by name.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            contents[name] = FileManager.default.contents(atPath: file(name))
        }
        return contents
    }
}
