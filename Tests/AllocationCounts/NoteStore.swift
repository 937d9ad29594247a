import Coral
import CoreData
import Synchronization

/// A store of one folder with notes, in a temporary folder that is removed with the store.
final class NoteStore {
    let context: NSManagedObjectContext
    private let container: NSPersistentContainer
    private let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }

    /// Creates a store with a number of saved notes; the context holds none of them.
    init(notes: Int) throws {
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        container = NSPersistentContainer(name: "Notes", managedObjectModel: Self.model)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: place.appendingPathComponent("Notes.sqlite"))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        context = container.viewContext
        guard notes > 0 else { return }
        let folder = Folder(context: context)
        folder.name = "All"
        for number in 0..<notes { insertNote(number).folder = folder }
        try context.save()
        context.reset()
    }

    deinit { try? FileManager.default.removeItem(at: place) }

    /// Inserts a note with a value for each of its attributes.
    @discardableResult
    func insertNote(_ number: Int) -> Note {
        let note = Note(context: context)
        note.position = Int64(number)
        note.title = Self.titles[number % Self.titles.count]
        note.rank = Double(number) / 4
        note.createdAt = Date(timeIntervalSinceReferenceDate: Double(number))
        note.isPinned = number % 2 == 0
        return note
    }

    /// All notes with their rows, in order.
    func fetchNotes() throws -> [Note] {
        let request = NSFetchRequest<Note>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(key: "position", ascending: true)]
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }

    /// Copies notes in the store, and waits for the end.
    func copy(_ ids: [NSManagedObjectID]) throws {
        var copier = GraphCopier()
        copier.rowCopying = .always
        let done = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        Task { [container, copier] in
            do {
                _ = try await copier.copy(ids, in: container)
            } catch {
                failure.withLock { $0 = error }
            }
            done.signal()
        }
        // The main queue is blocked: a copy in the background does not wait for it.
        done.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// The folder object; nil in a store without notes.
    func fetchFolder() throws -> Folder? { try context.fetch(NSFetchRequest<Folder>(entityName: "Folder")).first }

    /// Texts too long to be stored without an allocation, created in advance.
    private static let titles = (0..<16).map { "What is to be done on the day number \($0)" }

    private static let model: NSManagedObjectModel = {
        let (folder, note) = (NSEntityDescription(), NSEntityDescription())
        for (entity, name) in [(folder, "Folder"), (note, "Note")] {
            entity.name = name
            entity.managedObjectClassName = "allocation_counts.\(name)"
        }
        let (notes, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        (notes.name, notes.destinationEntity, notes.inverseRelationship) = ("notes", note, back)
        (back.name, back.destinationEntity, back.inverseRelationship, back.maxCount) = ("folder", folder, notes, 1)
        folder.properties = [attribute("name", .stringAttributeType), notes]
        note.properties = [
            attribute("position", .integer64AttributeType), attribute("title", .stringAttributeType),
            attribute("rank", .doubleAttributeType), attribute("createdAt", .dateAttributeType),
            attribute("isPinned", .booleanAttributeType), back,
        ]
        let model = NSManagedObjectModel()
        model.entities = [folder, note]
        return model
    }()

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }
}
