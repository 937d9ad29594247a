import Coral
import NotesModel

// Frequent first questions: where the context comes from, how a store is filled on first launch, how objects are sent
// to another device without a file, how to update instead of creating, and how to revert a dictionary.

/// A device: a container with a store of its own.
func device(_ name: String) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: name, managedObjectModel: .notes())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
}

func notes(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try context.fetch(request)
}

func show(_ title: String, _ context: NSManagedObjectContext) throws {
    print(title)
    for note in try notes(in: context) {
        let items = note.value(forKey: "items") as? NSOrderedSet ?? []
        let names = items.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        print(
            "  \(note.value(forKey: "title") ?? "")\(note.value(forKey: "isPinned") as? Bool == true ? " (pinned)" : ""):",
            names.isEmpty ? "nothing" : names.joined(separator: ", "))
    }
}

// Where the context comes from: the container has one for the main queue.
let phone = try device("Phone")
let context = phone.viewContext

// On first launch the store is empty, and is filled from a document that came with the app.
let seed = Data(
    """
    {"Note": [
      {"title": "Groceries", "items": [{"name": "Milk"}, {"name": "Bread"}]},
      {"title": "Welcome", "isPinned": true}
    ]}
    """.utf8)
if try context.count(for: NSFetchRequest<NSFetchRequestResult>(entityName: "Note")) == 0 {
    try context.importObjects(from: seed)
    try context.save()
}
try show("Seeded on first launch", context)

// Sending to another device without a file: the data can be sent over any connection.
let sent = try GraphExporter(format: .propertyList).encoded(try notes(in: context))
let tablet = try device("Tablet")
try tablet.viewContext.importObjects(from: sent)
try tablet.viewContext.save()
try show("Sent to another device", tablet.viewContext)

// Updating instead of creating: the title identifies a note, so that an existing note is found and changed.
var options = ImportOptions()
options.identity.keys = ["Note": ["title"]]
let news = Data(#"{"Note": [{"title": "Groceries", "isPinned": true}, {"title": "Garden"}]}"#.utf8)
let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context, options: options).plan(news)
print("Updating instead of creating:", plan.summary)
try plan.apply()
try context.save()
try show("Updated", context)

// The inverse of `dictionary`: `populate` reads a dictionary into an object.
let note = try notes(in: context)[1]
let dictionary = try note.dictionary()
let earlier = try GraphExporter().encoded([note])
note.setValue("Shopping", forKey: "title")
try note.populate(from: dictionary)
try show("Back as it was", context)

// Only the changes since then.
note.setValue("Errands", forKey: "title")
let changes = try GraphExporter().changes(of: [note], since: earlier)
print("Changed since the export:", changes.summary)
try changes.inverse.apply(to: context)
print("Reverted:", note.value(forKey: "title") ?? "")
