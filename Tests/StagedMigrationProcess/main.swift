// Migrates a store of notes in stages, for a test that kills it: staged-migration STORE [COUNT]. With COUNT, the store is created
// with the first version of the model and that many notes.

import CoreData

guard let path = CommandLine.arguments.dropFirst().first else {
    print("usage: staged-migration STORE [COUNT]")
    exit(64)
}
let url = URL(fileURLWithPath: path)

/// Notes with a size as text in the first version, without one in the second, with a number in the third, and with a colour
/// in the fourth.
func model(_ version: Int) -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }
    let note = NSEntityDescription()
    note.name = "Note"
    note.managedObjectClassName = "NSManagedObject"
    note.properties = [attribute("title", .stringAttributeType)]
    if version == 1 { note.properties += [attribute("size", .stringAttributeType)] }
    if version >= 3 { note.properties += [attribute("size", .integer64AttributeType)] }
    if version >= 4 { note.properties += [attribute("colour", .stringAttributeType)] }
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
}

func stage(_ from: Int, _ to: Int) -> NSCustomMigrationStage {
    func reference(_ version: Int) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model(version), versionChecksum: model(version).versionChecksum)
    }
    return NSCustomMigrationStage(migratingFrom: reference(from), to: reference(to))
}

/// Changes every note, and saves after each hundred.
func change(_ manager: NSStagedMigrationManager, _ body: (NSManagedObject) -> Void) throws {
    guard let context = manager.container?.newBackgroundContext() else { return }
    try context.performAndWait {
        let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        for (index, note) in notes.enumerated() {
            body(note)
            if index % 100 == 99 { try context.save() }
        }
        try context.save()
    }
}

if let count = CommandLine.arguments.dropFirst(2).first.flatMap({ Int($0) }) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(1))
    let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
        for number in 0..<count {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("note \(number)", forKey: "title")
            note.setValue("\(number)", forKey: "size")
        }
        try context.save()
    }
    // Writes the log to the file.
    try coordinator.remove(store)
    exit(0)
}

let (first, second) = (stage(1, 2), stage(2, 3))
first.willMigrateHandler = { manager, _ in
    try change(manager) { note in
        let (title, size) = (note.value(forKey: "title") as? String, note.value(forKey: "size") as? String)
        note.setValue("\(title ?? "")/\(size ?? "")", forKey: "title")
    }
}
second.didMigrateHandler = { manager, _ in
    try change(manager) { note in
        let parts = (note.value(forKey: "title") as? String ?? "").split(separator: "/")
        note.setValue(parts.first.map(String.init), forKey: "title")
        note.setValue(parts.last.flatMap { Int($0) }, forKey: "size")
    }
}
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(4))
try coordinator.addPersistentStore(
    ofType: NSSQLiteStoreType, configurationName: nil, at: url,
    options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([
            first, second, NSLightweightMigrationStage([model(4).versionChecksum]),
        ]),
    ])
