// What the code blocks of README and articles rely on: a store of notes, and names for its parts. `Scripts/check-code-blocks`
// runs each page in an empty folder, where the store is created when a block first uses it. What only one page uses is in the
// file of its name beside this one, which is the beginning of its program.

import Coral
import NotesModel

class Note: NSManagedObject {
    @Tracked("keywords") var keywords: [String] = []
    @Tracked("settings", coder: .json) var settings = Settings()

    var title: String? {
        get { value(forKey: "title") as? String }
        set { setValue(newValue, forKey: "title") }
    }
    var tags: NSSet? { value(forKey: "tags") as? NSSet }
    var modifiedAt: Date? { value(forKey: "modifiedAt") as? Date }

    /// Outside Apple's platforms a class that is written by hand names its key paths.
    override class func registerKeyPaths() {
        super.registerKeyPaths()
        KeyPathRegistry.register(\Note.title, as: "title")
        KeyPathRegistry.register(\Note.keywords, as: "keywords")
        KeyPathRegistry.register(\Note.tags, as: "tags")
        KeyPathRegistry.register(\Note.modifiedAt, as: "modifiedAt")
    }

    /// The names of the items, in their order.
    var itemNames: [String] { (value(forKey: "items") as? NSOrderedSet)?.array.compactMap(name(of:)) ?? [] }
}

struct Settings: Codable, Equatable {
    var isOpen = false
}

/// The value of the attribute `name`.
func name(of object: Any) -> String? { (object as? NSManagedObject)?.value(forKey: "name") as? String }

// Only the page uses these, one block after the other.
nonisolated(unsafe) let model = makeModel()
nonisolated(unsafe) let container = filled(makeContainer(at: storeURL))
nonisolated(unsafe) let context = container.viewContext
nonisolated(unsafe) let notes: [Note] = fetched(in: context)
nonisolated(unsafe) let note = notes[1]
nonisolated(unsafe) let originals = notes.map(\.objectID)
/// A context of an empty store.
nonisolated(unsafe) let otherContext = makeContainer(at: folder.appendingPathComponent("Other.sqlite")).viewContext

/// The empty folder in which the page runs.
let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
let storeURL = folder.appendingPathComponent("Notes.sqlite")
/// The folder of this package.
let sources = URL(fileURLWithPath: ProcessInfo.processInfo.environment["CORAL_SOURCES"] ?? "/", isDirectory: true)
/// The model of Examples/Packages/Checklist, which has two versions.
let checklistModelURL = URL(
    fileURLWithPath: "Examples/Packages/Checklist/Sources/Checklist/Checklist.xcdatamodeld", relativeTo: sources)
/// A file that does not exist.
let url = folder.appendingPathComponent("New")

/// The model of the examples, with the properties and entities that some pages need.
func makeModel() -> NSManagedObjectModel {
    let model = NSManagedObjectModel.notes()
    for entity in model.entities where entity.name == "Note" {
        entity.managedObjectClassName = NSStringFromClass(Note.self)
        entity.properties += [
            attribute("keywords", .transformableAttributeType), attribute("settings", .binaryDataAttributeType),
            attribute("folder", .stringAttributeType), attribute("pages", .integer64AttributeType),
            attribute("modifiedAt", .dateAttributeType), attribute("isArchived", .booleanAttributeType),
        ]
        for attribute in entity.properties where attribute.name == "isArchived" {
            (attribute as? NSAttributeDescription)?.defaultValue = false
        }
    }
    for entity in model.entities where entity.name == "Person" { entity.uniquenessConstraints = [["name"]] }
    let palette = NSEntityDescription()
    palette.name = "Palette"
    palette.properties = [attribute("colours", .transformableAttributeType)]
    let customer = NSEntityDescription()
    customer.name = "Customer"
    customer.properties = [attribute("name", .stringAttributeType)]
    model.entities += [palette, customer]
    return model
}

func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
}

func makeContainer(at url: URL, _ model: NSManagedObjectModel = model) -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    container.persistentStoreDescriptions[0].setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.loadPersistentStores { _, error in
        if let error { print("The store cannot be opened: \(error)") }
    }
    return container
}

/// The container with three notes in its store, "Garden", "Groceries" and "Welcome", two of them with items and tags.
func filled(_ container: NSPersistentContainer) -> NSPersistentContainer {
    let document = """
        {"Person": [{"$id": "Person/1", "name": "Ada"}],
         "Tag": [{"$id": "Tag/1", "name": "home"}, {"$id": "Tag/2", "name": "work"}],
         "Note": [
            {"title": "Garden", "folder": "Home", "pages": 2, "rank": 0.25, "tags": ["Tag/1", "Tag/2"], "author": "Person/1",
             "items": [{"name": "Seeds"}]},
            {"title": "Groceries", "folder": "Home", "pages": 3, "rank": 0.5, "createdAt": "2024-02-29T12:30:00.125Z",
             "tags": ["Tag/1"], "author": "Person/1", "items": [{"name": "Milk"}, {"name": "Bread"}]},
            {"title": "Welcome", "folder": "Work", "isPinned": true}]}
        """
    do {
        try container.viewContext.importObjects(from: Data(document.utf8))
        try container.viewContext.save()
    } catch {
        print("The store cannot be filled: \(error)")
    }
    return container
}

/// The notes of a context, by title.
func fetched(in context: NSManagedObjectContext) -> [Note] {
    let request = NSFetchRequest<Note>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return (try? context.fetch(request)) ?? []
}

/// The elements of both lists.
func union(_ one: Any?, _ other: Any?) -> Any? { (one as? [String] ?? []) + (other as? [String] ?? []) }
