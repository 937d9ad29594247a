import Coral
import NotesModel
import Testing

/// The initial content of a store.
final class StoreCreationTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seed-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func document(_ name: String, _ json: String) throws -> URL {
        let url = folder.appendingPathComponent(name)
        try Data(json.utf8).write(to: url)
        return url
    }

    private func titles(_ url: URL) throws -> [String] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            return try context.fetch(request).compactMap { note in
                let tags = (note.value(forKey: "tags") as? NSSet)?.allObjects.compactMap {
                    ($0 as? NSManagedObject)?.value(forKey: "name") as? String
                }
                return "\(note.value(forKey: "title") ?? "") \(tags?.sorted().joined(separator: ",") ?? "")"
            }
        }
    }

    @Test func `documents fill a new store once, and that store fills another`() throws {
        let tags = try document("tags.json", #"{"Tag": [{"name": "home"}, {"name": "work"}]}"#)
        let notes = try document(
            "notes.json", #"{"Note": [{"title": "Groceries", "tags": ["home"]}, {"title": "Welcome"}]}"#)
        let url = folder.appendingPathComponent("Library/Notes.sqlite")
        #expect(try NSPersistentStoreCoordinator.createStore(at: url, model: .notes(), importing: [tags, notes]))
        #expect(try titles(url) == ["Groceries home", "Welcome "])
        #expect(
            try !NSPersistentStoreCoordinator.createStore(at: url, model: .notes(), importing: [tags, notes]),
            "At the second launch it exists.")
        #expect(try titles(url).count == 2)

        let copy = folder.appendingPathComponent("Copy.sqlite")
        let before = try Data(contentsOf: url)
        #expect(try NSPersistentStoreCoordinator.createStore(at: copy, model: .notes(), copying: url))
        #expect(try titles(copy) == ["Groceries home", "Welcome "])
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `an error leaves no store`() throws {
        let good = try document("good.json", #"{"Note": [{"title": "x"}]}"#)
        let bad = try document("bad.json", #"{"Note": [{"rank": "high"}]}"#)
        let url = folder.appendingPathComponent("Notes.sqlite")
        #expect(throws: ImportError.self) {
            try NSPersistentStoreCoordinator.createStore(at: url, model: .notes(), importing: [good, bad])
        }
        #expect(throws: (any Error).self) {
            try NSPersistentStoreCoordinator.createStore(
                at: url, model: .notes(), copying: self.folder.appendingPathComponent("none.sqlite"))
        }
        let other = folder.appendingPathComponent("Other.sqlite")
        try StoreCreation.createStore(at: other, model: WebModel.make())
        let error = #expect(throws: ImportError.self) {
            try NSPersistentStoreCoordinator.createStore(at: url, model: .notes(), copying: other)
        }
        #expect(error?.code == .misuse)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.contains("Notes.sqlite")
        }
        #expect(left.isEmpty)
    }
}
