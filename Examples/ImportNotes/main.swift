import Coral
import NotesModel

// A document of a server is imported: looked at first, matched by keys, and refused as a whole where something is wrong.

let container = NSPersistentContainer(name: "Notes", managedObjectModel: .notes())
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
container.loadPersistentStores { _, error in
    if let error { print("The store cannot be opened: \(error)") }
}
let context = container.viewContext

// A note is known by its title, an item by its name within the note, a tag by the model's uniqueness constraint.
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

// The same again, with a change: what is there is found. A member that is not mentioned stays, an empty list empties.
let second = Data(
    #"{"Note": [{"title": "Groceries", "items": [{"name": "Bread"}, {"name": "Butter"}]}, {"title": "Garden", "tags": []}]}"#
        .utf8)
let changes = try importer.plan(second)
print("Then:", changes.summary)
try changes.apply()
try context.save()
try show()

// One mistake, and nothing is imported. The error says where it stands.
let third = Data(#"{"Note": [{"title": "Books"}, {"title": "Garden", "rank": "high"}]}"#.utf8)
do {
    try importer.importObjects(from: third)
} catch {
    print("Refused: \(error)")
}
print("Has changes:", context.hasChanges)

// Unless it may be left out.
options.skipsInvalid = true
let rest = try GraphImporter(into: context, options: options).plan(third)
print("The rest:", rest.summary)
