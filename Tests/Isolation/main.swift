// Code of apps whose isolation the compiler checks: `Scripts/check-isolation` compiles it in the language modes of Swift 5 and 6.
import Coral

let container = NSPersistentContainer(name: "Notes", managedObjectModel: NSManagedObjectModel())
// The compiler prefers the function without `async` at the top level if the block may return nothing.
let inserted: NSManagedObject = await container.viewContext.perform {
    NSEntityDescription.insertNewObject(forEntityName: "Note", into: container.viewContext)
}
print(inserted.objectID)
let count = try await container.performBackgroundTask { context in
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).count
}
print(count)
try await container.viewContext.perform(schedule: .enqueued) { try container.viewContext.save() }
let stores: Int = await container.persistentStoreCoordinator.perform {
    container.persistentStoreCoordinator.persistentStores.count
}
print(stores)

/// A view model that is not `Sendable` by itself.
@MainActor final class NotesModel {
    let container: NSPersistentContainer
    private var notes: [NSManagedObject] = []

    init(container: NSPersistentContainer) { self.container = container }

    func load(matching predicate: NSPredicate) async throws {
        let context = container.viewContext
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = predicate
        notes = try await context.perform { try context.fetch(request) }
    }

    func rename(_ note: NSManagedObject, to title: String) async throws {
        let context = container.viewContext
        try await context.perform {
            note.setValue(title, forKey: "title")
            try context.save()
        }
    }

    func insert(_ values: [String: Any]) async throws -> NSManagedObjectID {
        try await container.performBackgroundTask { context in
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValuesForKeys(values)
            try context.save()
            return note.objectID
        }
    }

    func stores() async -> [NSPersistentStore] {
        let coordinator = container.persistentStoreCoordinator
        return await coordinator.perform { coordinator.persistentStores }
    }
}

actor Importer {
    private let context: NSManagedObjectContext
    private var imported: [NSManagedObject] = []

    init(_ container: NSPersistentContainer) { context = container.newBackgroundContext() }

    func add(_ records: [[String: Any]]) async throws {
        let context = context
        imported += await context.perform(schedule: .enqueued) {
            records.map { record in
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValuesForKeys(record)
                return note
            }
        }
        try await context.perform { try context.save() }
    }
}

/// A function without isolation, and a class that is isolated nowhere.
final class Repository {
    let context: NSManagedObjectContext
    init(_ context: NSManagedObjectContext) { self.context = context }

    func titles() async throws -> [String] {
        try await context.perform {
            try self.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
                .compactMap { $0.value(forKey: "title") as? String }
        }
    }
}

/// A view model that imports, exports and copies in the background of its container.
@MainActor final class NotesScreen {
    let container: NSPersistentContainer
    private(set) var notes: [NSManagedObject] = []

    init(container: NSPersistentContainer) { self.container = container }

    func add(_ document: Data, to folder: String) async throws {
        var options = ImportOptions()
        options.hooks.didImport["Note"] = { _, note in note.setValue(folder, forKey: "folder") }
        let ids = try await container.importObjects(from: .data(document), options: options)
        notes += ids.map(container.viewContext.object(with:))
    }

    func add(_ records: [[String: Any]]) async throws {
        try await container.importObjects(from: .dictionary(records))
    }

    func addLater(_ url: URL) -> Task<Int, any Error> {
        Task { try await container.importObjects(from: .file(url)).count }
    }

    func share(to url: URL) async throws -> Int {
        try await GraphExporter().export(notes.map(\.objectID), in: container, to: url).recordCount
    }

    func duplicate(_ note: NSManagedObject) async throws {
        let copies = try await GraphCopier().copy([note.objectID], in: container)
        if let id = copies[note.objectID] { notes.append(container.viewContext.object(with: id)) }
    }
}
