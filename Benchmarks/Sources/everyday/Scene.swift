import CoreData
import Foundation

/// A store in a folder of its own, which is removed with the scene, and a context.
final class Scene {
    let folder: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    init(
        _ model: NSManagedObjectModel = Library.model(), type: String = NSSQLiteStoreType,
        options: [AnyHashable: Any]? = nil
    ) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("everyday-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: folder.appendingPathComponent("Library.sqlite"), options: options)
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var file: URL { folder.appendingPathComponent("Library.sqlite") }

    /// The file by SQLite's C interface.
    func raw() -> RawStore { RawStore(file) }

    func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// Notes with numbers from 0, saved.
    @discardableResult
    func notes(_ count: Int, in folder: NSManagedObject? = nil) throws -> [NSManagedObject] {
        let notes = (0..<count).map { make("Note", Self.values($0)) }
        if let folder { for note in notes { note.setValue(folder, forKey: "folder") } }
        try context.save()
        return notes
    }

    /// The same notes in the store, without objects.
    func fill(_ count: Int) throws {
        var next = 0
        try context.execute(
            NSBatchInsertRequest(entityName: "Note") { row in
                guard next < count else { return true }
                row.addEntries(from: Self.values(next))
                next += 1
                return false
            })
    }

    private static func values(_ number: Int) -> [String: Any] {
        ["number": number, "title": "Note \(number % 1000)", "size": number % 100]
    }

    /// Another context of the same store.
    func anotherContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    func child() -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = context
        return child
    }

    /// Fetches notes.
    @discardableResult
    func fetch(
        _ format: String? = nil, _ arguments: [Any] = [], in context: NSManagedObjectContext? = nil,
        _ configure: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        if let format { request.predicate = NSPredicate(format: format, argumentArray: arguments) }
        configure(request)
        return try (context ?? self.context).fetch(request)
    }
}

/// The order of most fetches.
var byNumber: [NSSortDescriptor] { [NSSortDescriptor(key: "number", ascending: true)] }
