import Coral
import NotesModel

// References to open notes are stored in user defaults, and in a Codable value; then one of the notes is deleted.

let container = NSPersistentContainer(name: "Notes", managedObjectModel: .notes())
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
container.loadPersistentStores { _, error in
    if let error { print("The store cannot be opened: \(error)") }
}
let context = container.viewContext

let notes = ["Groceries", "Garden", "Books"].map { title in
    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
    note.setValue(title, forKey: "title")
    return note
}
try context.save()

let defaults = UserDefaults(suiteName: "coral.example.\(UUID().uuidString)") ?? .standard
try defaults.setReferences(to: notes.reversed(), forKey: "open")

struct Selection: Codable {
    @Referenced var note: NSManagedObject?
}
let json = try JSONEncoder().encode(Selection(note: notes[0]))

context.delete(notes[1])
try context.save()
context.reset()

let open = try defaults.objects(forReferencesKey: "open", in: context, as: NSManagedObject.self)
for note in open.objects { print(note.value(forKey: "title") ?? "") }
for (index, reason) in open.missing { print("Number \(index + 1) is missing: \(reason.code.rawValue)") }

let decoder = JSONDecoder()
decoder.userInfo[.managedObjectContext] = context
print("Selected:", try decoder.decode(Selection.self, from: json).note?.value(forKey: "title") ?? "nothing")
