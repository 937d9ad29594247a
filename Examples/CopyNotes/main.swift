import Coral
import NotesModel

// Copies a note with its items; its tags are shared with the original, which is not changed.

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

let items = ["Milk", "Bread"].map { insert("Item", ["name": $0]) }
let tag = insert("Tag", ["name": "weekly"])
let note = insert(
    "Note", ["title": "Groceries", "items": NSOrderedSet(array: items), "tags": NSSet(object: tag)])
try context.save()

// The plan of the copy, before anything is copied.
let copier = GraphCopier()
print("Would copy", try copier.plan([note]).summary)

var rules = CopyRules()
rules.setValue("Note.title") { _, title in "\(title ?? "") for next week" }
let copies = try GraphCopier(rules: rules, saves: true).copy([note])
if let copy = copies[note] {
    print(copy.value(forKey: "title") ?? "")
    for case let item as NSManagedObject in copy.value(forKey: "items") as? NSOrderedSet ?? [] {
        print("-", item.value(forKey: "name") ?? "", items.contains(item) ? "(the same)" : "(a copy)")
    }
    print("The tag is shared:", copy.value(forKey: "tags") as? NSSet == NSSet(object: tag))
}
print("The original has \((note.value(forKey: "items") as? NSOrderedSet)?.count ?? 0) items.")
