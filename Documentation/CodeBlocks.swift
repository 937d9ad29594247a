// Declarations for the code blocks of README and articles: `Scripts/check-code-blocks` compiles the blocks with this
// file. A name that several pages use is declared here once.

import Coral

class Note: NSManagedObject {
    var title: String?
    var createdAt: Date?
    @Tracked("tags") var tags: [String] = []
    @Tracked("settings", coder: .json) var settings = Settings()
}

final class Palette: NSManagedObject {}

struct Settings: Codable, Equatable {
    var isOpen = false
}

// The code is never executed, so there are no data races.
nonisolated(unsafe) let model = NSManagedObjectModel()
nonisolated(unsafe) let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
nonisolated(unsafe) let context = container.viewContext
nonisolated(unsafe) let otherContext = container.newBackgroundContext()
nonisolated(unsafe) let note = Note(context: context)
nonisolated(unsafe) let notes = [note]
nonisolated(unsafe) let originals = notes.map(\.objectID)
nonisolated(unsafe) let threeCustomers: [NSManagedObject] = notes
nonisolated(unsafe) let palette = Palette(context: context)
nonisolated(unsafe) let decoder = JSONDecoder()
nonisolated(unsafe) let dictionary: [String: Any] = [:]
let json = Data()
let url = URL(fileURLWithPath: "/dev/null")
let storeURL = url
let modelURL = url
let mappingURL = url
let secret = "secret"
nonisolated(unsafe) let notification = Notification(name: .NSManagedObjectContextDidSave)
let ours = GraphDelta()
let theirs = GraphDelta()

func show(_ note: NSManagedObject) {}
func union(_ one: Any?, _ other: Any?) -> Any? { one ?? other }
