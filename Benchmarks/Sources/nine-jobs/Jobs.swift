import CoreData
import Foundation

/// The nine jobs, as a user of Core Data would write them.
struct Jobs {
    let notes: Int
    let items: Int
    let tags: Int
    let database: URL
    let json: URL
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext

    init(notes: Int, items: Int, tags: Int, database: URL, json: URL) throws {
        self.notes = notes
        self.items = items
        self.tags = tags
        self.database = database
        self.json = json
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
        case 9: return try update()
        default: return "-"
        }
    }

    func close() throws {
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }

    /// Job 0: the values alone.
    private func make() -> String {
        var bytes = 0
        for number in 0..<notes {
            bytes += Workload.note(number).body.utf8.count
            for index in 0..<items { bytes += Workload.item(number * items + index, tagTotal: tags).tags.count }
        }
        return "\(bytes)"
    }

    /// Job 1: the whole graph as objects, saved.
    private func insert() throws -> String {
        let tagObjects = (0..<tags).map { number in
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue(Workload.tagName(number), forKey: "name")
            return tag
        }
        for number in 0..<notes {
            let values = Workload.note(number)
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue(values.id, forKey: "id")
            note.setValue(values.title, forKey: "title")
            note.setValue(values.body, forKey: "body")
            note.setValue(values.createdAt, forKey: "createdAt")
            note.setValue(values.isPinned, forKey: "isPinned")
            note.setValue(values.rank, forKey: "rank")
            let detail = NSEntityDescription.insertNewObject(forEntityName: "NoteDetail", into: context)
            detail.setValue(values.content, forKey: "content")
            detail.setValue(note, forKey: "note")
            for index in 0..<items {
                let itemValues = Workload.item(number * items + index, tagTotal: tags)
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue(index, forKey: "index")
                item.setValue(itemValues.name, forKey: "name")
                item.setValue(values.id, forKey: "noteID")
                item.setValue(itemValues.quantity, forKey: "quantity")
                item.setValue(itemValues.price, forKey: "price")
                item.setValue(note, forKey: "note")
                if !itemValues.tags.isEmpty {
                    item.setValue(NSSet(array: itemValues.tags.map { tagObjects[$0] }), forKey: "tags")
                }
            }
        }
        try context.save()
        return "-"
    }

    /// Job 2: all items as objects.
    private func sum() throws -> String {
        var sum: Int64 = 0
        for item in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")) {
            sum += item.value(forKey: "quantity") as? Int64 ?? 0
        }
        return "\(sum)"
    }

    /// Job 3: a thousand fetches.
    private func query() throws -> String {
        var sum = 0
        for number in 0..<1000 {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(
                format: "createdAt >= %@ AND isPinned == YES", Workload.queryDate(number) as CVarArg)
            request.sortDescriptors = [NSSortDescriptor(key: "createdAt", ascending: true)]
            request.fetchLimit = 20
            for note in try context.fetch(request) {
                sum += Int((note.value(forKey: "rank") as? Double ?? 0) * 1e6)
            }
        }
        return "\(sum)"
    }

    /// Job 4: every note, its items in order, their tags.
    private func traverse() throws -> String {
        var sum: Int64 = 0
        for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
            guard let items = note.value(forKey: "items") as? NSOrderedSet else { continue }
            for case let item as NSManagedObject in items.array {
                let quantity = item.value(forKey: "quantity") as? Int64 ?? 0
                let index = item.value(forKey: "index") as? Int64 ?? 0
                sum += quantity * (index + 1)
                for case let tag as NSManagedObject in (item.value(forKey: "tags") as? NSSet)?.allObjects ?? [] {
                    sum += Int64((tag.value(forKey: "name") as? String ?? "").utf8.count)
                }
            }
        }
        return "\(sum)"
    }

    /// Job 9: one more of every item with index 3.
    private func update() throws -> String {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "index == 3")
        let found = try context.fetch(request)
        for item in found {
            item.setValue((item.value(forKey: "quantity") as? Int64 ?? 0) + 1, forKey: "quantity")
        }
        try context.save()
        return "\(found.count)"
    }
}
