import Coral

/// Writes the store of an app: two notes, with a history.
func makeAppStore(at url: URL) throws {
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    let pages = NSAttributeDescription()
    pages.name = "pages"
    pages.attributeType = .integer64AttributeType
    let note = NSEntityDescription()
    note.name = "Note"
    note.properties = [title, pages]
    let model = NSManagedObjectModel()
    model.entities = [note]

    let coordinator = NSPersistentStoreCoordinator(
        managedObjectModel: model)
    try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: [NSPersistentHistoryTrackingKey: true])
    let context = NSManagedObjectContext(
        concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
        for (title, pages) in [("Groceries", 1), ("Garden", 3)] {
            let note = NSEntityDescription.insertNewObject(
                forEntityName: "Note", into: context)
            note.setValue(title, forKey: "title")
            note.setValue(pages, forKey: "pages")
        }
        try context.save()
    }
    try coordinator.remove(coordinator.persistentStores[0])
}
