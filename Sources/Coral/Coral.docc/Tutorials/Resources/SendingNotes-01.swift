import Coral

let model = makeModel()

/// A device: a container with a store of its own.
func makeDevice(_ name: String) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(
        name: name, managedObjectModel: model)
    let nowhere = URL(fileURLWithPath: "/dev/null")
    container.persistentStoreDescriptions = [
        NSPersistentStoreDescription(url: nowhere)
    ]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
}

let phone = try makeDevice("Phone").viewContext
let tablet = try makeDevice("Tablet").viewContext
