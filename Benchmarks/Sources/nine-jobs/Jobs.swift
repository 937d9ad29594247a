import Coral
import CoreData
import Foundation
import NotesWorkload
import Synchronization

/// The nine jobs, as an application with Core Data would implement them.
struct Jobs {
    let notes: Int
    let items: Int
    let tags: Int
    let database: URL
    let json: URL
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext

    init(_ arguments: JobArguments) throws {
        (notes, items, tags) = (arguments.notes, arguments.items, arguments.tags)
        (database, json) = (arguments.database, arguments.json)
        container = NSPersistentContainer(name: "Notes", managedObjectModel: NotesModel.make())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: database)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        context = container.viewContext
    }

    func run(_ job: Int) throws -> String {
        switch job {
        case 0: return make()
        case 1: return try insert()
        case 2: return try sum()
        case 3: return try query()
        case 4: return try traverse()
        case 5: return try export()
        case 6, 7: return try importAll()
        case 8: return try copy()
        case 9: return try update()
        case 10: return try copyObjects()
        case 11: return try updateWithoutObjects()
        default: return "-"
        }
    }

    func close() throws {
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }

    /// Job 0: computes the values, without a store.
    private func make() -> String {
        var bytes = 0
        for number in 0..<notes {
            bytes += Workload.note(number).body.utf8.count
            for index in 0..<items { bytes += Workload.item(number * items + index, tagTotal: tags).tags.count }
        }
        return "\(bytes)"
    }

    /// The number of notes that job 1 saves together.
    private static let batch = 2_500

    /// Job 1: inserts and saves the whole graph in batches, and resets the context after each, so that memory does not
    /// grow.
    private func insert() throws -> String {
        var tagObjects = (0..<tags).map { number in
            let tag = Tag(context: context)
            tag.name = Workload.tagName(number)
            return tag
        }
        for number in 0..<notes {
            if number > 0, number % Self.batch == 0 { tagObjects = try saveAndReset(keeping: tagObjects) }
            insertNote(number, tags: tagObjects)
        }
        try context.save()
        return "-"
    }

    /// Saves, resets the context, and fetches the tags again, in the same order.
    private func saveAndReset(keeping tagObjects: [Tag]) throws -> [Tag] {
        try context.save()
        let ids = tagObjects.map(\.objectID)
        context.reset()
        let fetched = try context.fetch(NSFetchRequest<Tag>(entityName: "Tag"))
        return withExtendedLifetime(fetched) { ids.compactMap { context.object(with: $0) as? Tag } }
    }

    private func insertNote(_ number: Int, tags tagObjects: [Tag]) {
        let values = Workload.note(number)
        let note = Note(context: context)
        note.id = values.id
        note.title = values.title
        note.body = values.body
        note.createdAt = values.createdAt
        note.isPinned = values.isPinned
        note.rank = values.rank
        let detail = NoteDetail(context: context)
        detail.content = values.content
        detail.note = note
        for index in 0..<items {
            let itemValues = Workload.item(number * items + index, tagTotal: tags)
            let item = Item(context: context)
            item.index = Int32(index)
            item.name = itemValues.name
            item.noteID = values.id
            item.quantity = itemValues.quantity
            item.price = itemValues.price
            item.note = note
            item.tags = Set(itemValues.tags.map { tagObjects[$0] })
        }
    }

    /// Job 2: reads all items as objects.
    private func sum() throws -> String {
        var sum: Int64 = 0
        for item in try context.fetch(NSFetchRequest<Item>(entityName: "Item")) { sum += item.quantity }
        return "\(sum)"
    }

    /// Job 3: executes a thousand fetches.
    private func query() throws -> String {
        var sum = 0
        for number in 0..<1000 {
            let request = NSFetchRequest<Note>(entityName: "Note")
            request.predicate = NSPredicate(
                format: "createdAt >= %@ AND isPinned == YES", Workload.queryDate(number) as CVarArg)
            request.sortDescriptors = [NSSortDescriptor(key: "createdAt", ascending: true)]
            request.fetchLimit = 20
            for note in try context.fetch(request) { sum += Int(note.rank * 1e6) }
        }
        return "\(sum)"
    }

    /// Job 4: reads every note, its ordered items, and their tags.
    private func traverse() throws -> String {
        var sum: Int64 = 0
        for note in try context.fetch(NSFetchRequest<Note>(entityName: "Note")) {
            for item in note.items {
                sum += item.quantity * Int64(item.index + 1)
                for tag in item.tags { sum += Int64(tag.name?.utf8.count ?? 0) }
            }
        }
        return "\(sum)"
    }

    /// The identity of objects, which is also their reference in the document.
    private var identity: ObjectIdentity {
        ObjectIdentity(keys: ["Note": ["id"], "NoteDetail": ["note"], "Item": ["note", "index"], "Tag": ["name"]])
    }

    /// Job 5: exports everything to one file.
    private func export() throws -> String {
        var exporter = GraphExporter(format: .json, layout: .plain, shape: .everything.excluding("Note.items"))
        exporter.identity = identity
        let result = try exporter.exportStore(of: container.persistentStoreCoordinator, to: json)
        return "\(result.recordCount)"
    }

    /// Jobs 6 and 7: imports that file into the store, with objects matched by their identity. Returns the number of
    /// changed objects.
    private func importAll() throws -> String {
        var importer = GraphImporter(into: context)
        importer.options.identity = identity
        importer.options.layout = .plain
        // The classes do not override methods that are called when objects are inserted or saved.
        importer.options.callsLifecycleMethods = false
        let result = try importer.importInBatches(from: .file(json))
        return "\(result.insertCount + result.updateCount)"
    }

    /// Job 8: copies the first thousand notes with the objects that they own; tags are shared, and identifiers are
    /// replaced according to the model. The store makes the copies without objects.
    private func copy() throws -> String {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        request.resultType = .managedObjectIDResultType
        request.fetchLimit = 1000
        let ids = try context.fetch(request)
        var copier = GraphCopier()
        copier.callsLifecycleMethods = false
        return try waiting { [copier, container] in "\(try await copier.copy(ids, in: container).count)" }
    }

    /// Waits for asynchronous work: all other jobs use one thread, which tools that count instructions require.
    private func waiting(_ body: @escaping @Sendable () async throws -> String) throws -> String {
        let done = DispatchSemaphore(value: 0)
        let result = Mutex<Result<String, any Error>>(.success("-"))
        Task {
            do {
                let value = try await body()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        return try result.withLock { $0 }.get()
    }

    /// Job 10, in addition to the nine: job 8 through objects.
    private func copyObjects() throws -> String {
        let request = NSFetchRequest<Note>(entityName: "Note")
        request.fetchLimit = 1000
        let map = try GraphCopier().copy(try context.fetch(request))
        try context.save()
        return "\(map.count)"
    }

    /// Job 9: increments the quantity of every item with index 3.
    private func update() throws -> String {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = NSPredicate(format: "index == 3")
        let found = try context.fetch(request)
        for item in found { item.quantity += 1 }
        try context.save()
        return "\(found.count)"
    }

    /// Job 11, in addition to the nine: the work of job 9 by one request, without objects.
    private func updateWithoutObjects() throws -> String {
        let request = NSBatchUpdateRequest(entityName: "Item")
        request.predicate = NSPredicate(format: "index == 3")
        request.propertiesToUpdate = ["quantity": NSExpression(format: "quantity + 1")]
        request.resultType = .updatedObjectsCountResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        return "\(result?.result as? Int ?? 0)"
    }
}
