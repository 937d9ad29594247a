import Coral

let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("\(UUID().uuidString).sqlite")
try makeAppStore(at: url)

let inspection = try StoreInspection(url: url)
guard let model = inspection.cachedModel else {
    throw CocoaError(.fileReadCorruptFile)
}

let container = NSPersistentContainer(
    name: "Notes", managedObjectModel: model)
let description = NSPersistentStoreDescription(url: url)
description.setOption(
    true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
container.persistentStoreDescriptions = [description]
var failure: (any Error)?
container.loadPersistentStores { failure = $1 }
if let failure { throw failure }
let context = container.viewContext

let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
request.predicate = NSPredicate(format: "pages > %d", 2)
let found = try context.fetch(request)

let coordinator = container.persistentStoreCoordinator
let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
found[0].setValue(4, forKey: "pages")
try context.save()
let newest = coordinator.currentPersistentHistoryToken(fromStores: nil)
print(token != newest)
