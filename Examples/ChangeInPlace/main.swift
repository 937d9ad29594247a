import Coral
import CoralValues

// A transformable attribute and a binary one with a Codable type: both are changed in place.

struct Layout: Codable, Equatable {
    var columns = 2
    var hidden: [String] = []
}

final class Board: NSManagedObject {
    @Tracked("layout", coder: .json) var layout = Layout()
    @Tracked("tags") var tags: [String] = []
}

ValueTransformer.register([String].self, as: "TagsTransformer")

func attribute(_ name: String, _ type: NSAttributeType, transformer: String? = nil) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    attribute.valueTransformerName = transformer
    return attribute
}
let entity = NSEntityDescription()
entity.name = "Board"
entity.managedObjectClassName = NSStringFromClass(Board.self)
entity.properties = [
    attribute("layout", .binaryDataAttributeType),
    attribute("tags", .transformableAttributeType, transformer: "TagsTransformer"),
]
let model = NSManagedObjectModel()
model.entities = [entity]

let container = NSPersistentContainer(name: "Boards", managedObjectModel: model)
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
container.loadPersistentStores { _, error in
    if let error { print("The store cannot be opened: \(error)") }
}
let context = container.viewContext
context.undoManager = UndoManager()
context.undoManager?.groupsByEvent = false

if let board = NSEntityDescription.insertNewObject(forEntityName: "Board", into: context) as? Board {
    board.tags = ["home"]
    try context.save()
    context.undoManager?.removeAllActions()

    board.tags.append("garden")
    board.layout.columns = 3
    print("Changed:", board.changedValues().keys.sorted().joined(separator: ", "))
    context.processPendingChanges()
    context.undoManager?.undo()
    print("Undone:", board.tags, board.layout.columns)
    context.undoManager?.redo()
    try context.save()
    context.refresh(board, mergeChanges: false)
    print("Saved:", board.tags, board.layout.columns)

    // Saves of another context are merged by a closure, and conflicts are reported.
    let other = container.newBackgroundContext()
    let id = board.objectID
    board.tags.append("mine")
    var rules = ValueConflictRules()
    rules.set(
        "Board.tags",
        .merge { _, mine, theirs in
            Set((mine as? [String] ?? []) + (theirs as? [String] ?? [])).sorted()
        })
    let saved = try other.performAndWait {
        let theirs = try other.existingObject(with: id) as? Board
        theirs?.tags.append("theirs")
        let notification = Notification(
            name: .NSManagedObjectContextDidSave, object: other,
            userInfo: [NSUpdatedObjectsKey: Set([theirs].compactMap { $0 as NSManagedObject? })])
        try other.save()
        return notification
    }
    let conflicts = try context.mergeChanges(fromContextDidSave: saved, resolvingBy: rules)
    print("Conflicts: \(conflicts.count), now", board.tags)
}
