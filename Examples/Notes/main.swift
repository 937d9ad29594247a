import CoreData
import NotesModel

let container = NSPersistentContainer(name: "Notes", managedObjectModel: .notes())
let folder = URL(fileURLWithPath: CommandLine.arguments.dropFirst().first ?? NSTemporaryDirectory())
let url = folder.appendingPathComponent("Notes-\(UUID().uuidString).sqlite")
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
var failure: (any Error)?
container.loadPersistentStores { _, error in failure = error }
if let failure { throw failure }
let context = container.viewContext

for (title, names) in [("Groceries", ["Milk", "Bread"]), ("Garden", ["Seeds"]), ("Books", [])] {
    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
    note.setValue(title, forKey: "title")
    for name in names {
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(name, forKey: "name")
        item.setValue(note, forKey: "note")
    }
}
try context.save()

let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
request.predicate = NSPredicate(format: "title BEGINSWITH %@ AND items.@count > %d", "G", 0)
request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
for note in try context.fetch(request) {
    let items = note.value(forKey: "items") as? NSOrderedSet ?? []
    let names = items.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
    print(note.value(forKey: "title") as? String ?? "", names.joined(separator: ", "), separator: ": ")
}
