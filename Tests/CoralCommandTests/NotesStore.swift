import Coral
import NotesModel

/// A folder with a small store in it.
final class NotesStore {
    let folder: URL
    let url: URL
    var path: String { url.path }

    /// Two notes with an item each, a tag that both have, and an author of the first.
    convenience init() throws {
        try self.init { context in
            let tag = Self.make("Tag", ["name": "home"], in: context)
            let site = URL(string: "https://example.com/a?b&c") as Any
            let author = Self.make("Person", ["name": "Ada", "site": site], in: context)
            for (rank, title) in ["Groceries", "Garden, \"big\""].enumerated() {
                let values: [String: Any] = ["title": title, "rank": Double(rank), "tags": NSSet(object: tag)]
                let note = Self.make("Note", values, in: context)
                if rank == 0 { note.setValue(author, forKey: "author") }
                let item: [String: Any] = ["name": "Item <\(rank)>", "quantity": Int64(rank), "note": note]
                _ = Self.make("Item", item, in: context)
                // Saved one after the other, so that primary keys have the same order.
                try context.save()
            }
        }
    }

    /// Creates a note with an item for each title.
    convenience init(titles: [String]) throws {
        try self.init { context in
            for title in titles {
                let note = Self.make("Note", ["title": title], in: context)
                _ = Self.make("Item", ["note": note], in: context)
            }
            try context.save()
        }
    }

    private init(_ fill: (NSManagedObjectContext) throws -> Void) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("Notes.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try fill(context) }
        try coordinator.remove(store)
    }

    private static func make(
        _ entity: String, _ values: [String: Any], in context: NSManagedObjectContext
    ) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
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
