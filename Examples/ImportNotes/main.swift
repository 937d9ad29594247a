import Coral
import NotesModel

// Imports a document of a server: planned first, matched by keys, and rejected as a whole if it contains an error.

let container = NSPersistentContainer(name: "Notes", managedObjectModel: .notes())
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
container.loadPersistentStores { _, error in
    if let error { print("The store cannot be opened: \(error)") }
}
let context = container.viewContext

// A note is identified by its title, an item by its name within the note, a tag by the model's uniqueness constraint.
var options = ImportOptions()
options.identity.keys = ["Note": ["title"], "Item": ["note", "name"]]
let importer = GraphImporter(into: context, options: options)

func show() throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    for note in try context.fetch(request) {
        let items = note.value(forKey: "items") as? NSOrderedSet ?? []
        let names = items.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        let tags = (note.value(forKey: "tags") as? Set<NSManagedObject> ?? []).compactMap {
            $0.value(forKey: "name") as? String
        }
        print("  \(note.value(forKey: "title") ?? ""): \(names), tags \(tags.sorted())")
    }
}

let first = Data(
    """
    {"Note": [
      {"title": "Groceries", "items": [{"name": "Milk"}, {"name": "Bread"}], "tags": [{"name": "weekly"}]},
      {"title": "Garden", "tags": [{"name": "weekly"}]}
    ]}
    """.utf8)
let plan = try importer.plan(first)
print("First:", plan.summary)
try plan.apply()
try context.save()
try show()

// The same document with a change: existing objects are found. An absent member is not changed, an empty list removes
// the members.
let second = Data(
    #"{"Note": [{"title": "Groceries", "items": [{"name": "Bread"}, {"name": "Butter"}]}, {"title": "Garden", "tags": []}]}"#
        .utf8)
let changes = try importer.plan(second)
print("Then:", changes.summary)
try changes.apply()
try context.save()
try show()

// With one error nothing is imported. The error contains its position.
let third = Data(#"{"Note": [{"title": "Books"}, {"title": "Garden", "rank": "high"}]}"#.utf8)
do {
    try importer.importObjects(from: third)
} catch {
    print("Refused: \(error)")
}
print("Has changes:", context.hasChanges)

// Unless records with errors may be skipped.
options.skipsInvalid = true
let rest = try GraphImporter(into: context, options: options).plan(third)
print("The rest:", rest.summary)
