import Coral
import NotesModel

// Opens a store with the model that it contains: no part of the app that created it is needed.

#if canImport(Darwin)
    print("Only this package's engine, outside Apple's platforms, reads a store's own model.")
#else
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appendingPathComponent("Notes.sqlite")
    try makeStore(at: url)
    defer { try? FileManager.default.removeItem(at: folder) }

    let inspection = try StoreInspection(url: url)
    guard let model = inspection.cachedModel else {
        print("The store contains no model.")
        exit(1)
    }
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
        print(entity.name ?? "", entity.propertiesByName.keys.sorted().joined(separator: ", "), separator: ": ")
    }

    // Transformable values stay encoded, so that no class of the app is needed.
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
    try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: true])
    let document = folder.appendingPathComponent("Notes.jsonl")
    let result = try GraphExporter(format: .jsonLines).exportStore(of: coordinator, to: document)
    print("Exported \(result.recordCount) records:")
    // The header contains the store's UUID, which differs in every run.
    print(try String(contentsOf: document, encoding: .utf8).split(separator: "\n").dropFirst().joined(separator: "\n"))

    /// An app that creates the store.
    func makeStore(at url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue("Ada", forKey: "name")
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("Groceries", forKey: "title")
            note.setValue(person, forKey: "author")
            try context.save()
        }
    }
#endif
