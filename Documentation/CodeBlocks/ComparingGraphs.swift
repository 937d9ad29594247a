// The document contains the store before its first change.
try GraphExporter(shape: .everything).exportStore(of: container.persistentStoreCoordinator, to: url)
let author = note.value(forKey: "author") as? NSManagedObject
author?.setValue(URL(string: "https://example.org/ada"), forKey: "site")
try context.save()
try otherContext.importObjects(from: Data(contentsOf: url))

/// The change of the title, which is taken back.
@Sendable func changing(_ title: String) throws -> GraphDelta {
    let before = try GraphExporter().encoded(notes)
    let former = note.title
    note.title = title
    defer { note.title = former }
    return try GraphExporter().changes(of: notes, since: before)
}
var ours: GraphDelta { get throws { try changing("Ours") } }
var theirs: GraphDelta { get throws { try changing("Theirs") } }
