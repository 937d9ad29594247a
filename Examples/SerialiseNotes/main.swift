import Coral
import NotesModel

// Writes a note to documents in several formats and layouts, with different sets of related objects.

let container = NSPersistentContainer(name: "Notes", managedObjectModel: .notes())
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
container.loadPersistentStores { _, error in
    if let error { print("The store cannot be opened: \(error)") }
}
let context = container.viewContext

func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
}

let milk = insert("Item", ["name": "Milk", "price": NSDecimalNumber(string: "1.20")])
let tag = insert("Tag", ["name": "weekly"])
let note = insert(
    "Note",
    [
        "title": "Groceries", "createdAt": Date(timeIntervalSinceReferenceDate: 730_902_600.125),
        "items": NSOrderedSet(object: milk), "tags": NSSet(object: tag),
    ])
try context.save()

func show(_ title: String, _ document: Data) {
    // The header contains the UUID of the store, which differs in every run.
    let lines = String(decoding: document, as: UTF8.self).split(separator: "\n").filter { !$0.contains("$header") }
    print("\(title)\n\(lines.joined(separator: "\n"))\n")
}

// The objects that a note owns are included: its items, because of their delete rule. Its tags are references.
show("Flat JSON", try note.encoded(as: .json))
show("Nested JSON", try note.encoded(as: .json, layout: .nested))
show("A record a line", try note.encoded(as: .jsonLines))

// Tags are included, prices excluded.
let shape = GraphShape.ownership.with("Note.tags", .embed).excluding("Item.price")
show("By a shape of one's own", try note.encoded(as: .json, layout: .nested, shape: shape))

// Without ids: objects are identified by natural keys, as in documents of most servers.
var exporter = GraphExporter(format: .json, layout: .plain, shape: shape)
exporter.identity.keys = ["Note": ["title"], "Item": ["note", "name"]]
show("Plain JSON", try exporter.encoded([note]))

// An unknown name is an error before anything is written.
do {
    _ = try note.encoded(as: .json, shape: .ownership.with("Note.tag", .embed))
} catch {
    print("Not written: \(error)")
}
