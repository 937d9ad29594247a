import Coral
import CoralTools
import NotesModel

// Two people and all their notes as a store for a colleague, without their names.

let container = NSPersistentContainer(name: "Notes", managedObjectModel: .notes())
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
container.loadPersistentStores { _, error in
    if let error { print("The store cannot be opened: \(error)") }
}
let context = container.viewContext

let people = ["Ada Lovelace", "Grace Hopper", "Ada Lovelace"].map { name in
    let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
    person.setValue(name, forKey: "name")
    for title in ["Plans", "Letters"] {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue(title, forKey: "title")
        note.setValue(person, forKey: "author")
    }
    return person
}
try context.save()

// People do not own their notes in this model: notes are kept when a person is deleted. Here they are included.
var subset = GraphSubset(shape: GraphShape.ownership.with("Person.notes", .embed))
subset.redaction = Redaction(secret: "not for the colleague")
subset.redaction?.replace("Person.name", by: .name)

let url = FileManager.default.temporaryDirectory.appendingPathComponent("Part-\(UUID().uuidString).sqlite")
print("Wrote", try subset.export([people[0], people[2]], to: url).summary)

let part = NSPersistentContainer(name: "Part", managedObjectModel: .notes())
part.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
part.loadPersistentStores { _, error in
    if let error { print("The store cannot be opened: \(error)") }
}
let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
let names = try part.viewContext.fetch(request).compactMap { $0.value(forKey: "name") as? String }
print("The same name twice:", Set(names).count == 1, "- and not the old one:", !names.contains("Ada Lovelace"))
try part.persistentStoreCoordinator.destroyPersistentStore(at: url, type: .sqlite)
