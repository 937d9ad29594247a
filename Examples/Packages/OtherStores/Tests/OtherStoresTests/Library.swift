import CoreData

/// Books and their authors.
enum Library {
    static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        func entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.managedObjectClassName = "NSManagedObject"
            entity.properties = attributes
            return entity
        }
        let book = entity(
            "Book",
            [
                attribute("title", .stringAttributeType), attribute("pages", .integer32AttributeType),
                attribute("published", .dateAttributeType),
            ])
        let author = entity("Author", [attribute("name", .stringAttributeType)])
        let written = NSRelationshipDescription()
        written.name = "author"
        written.destinationEntity = author
        written.maxCount = 1
        written.isOptional = true
        let books = NSRelationshipDescription()
        books.name = "books"
        books.destinationEntity = book
        books.maxCount = 0
        books.isOptional = true
        written.inverseRelationship = books
        books.inverseRelationship = written
        book.properties += [written]
        author.properties += [books]
        let model = NSManagedObjectModel()
        model.entities = [book, author]
        return model
    }

    static func context(_ storeClass: AnyClass, _ type: String, _ url: URL) throws -> NSManagedObjectContext {
        NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}

extension NSManagedObjectContext {
    func titles(_ predicate: String? = nil) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = predicate.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try fetch(request).compactMap { $0.value(forKey: "title") as? String }
    }
}
