import CoreData

/// Two versions of a model of books and their authors, for migrations.
enum LibraryModels {
    /// Books with authors and loans; novels are books; visitors.
    static func old() -> NSManagedObjectModel {
        let book = DiaryModel.entity("Book", NSManagedObject.self)
        let novel = DiaryModel.entity("Novel", NSManagedObject.self)
        let author = DiaryModel.entity("Author", NSManagedObject.self)
        let visitor = DiaryModel.entity("Visitor", NSManagedObject.self)
        book.subentities = [novel]
        let title = DiaryModel.attribute("title", .stringAttributeType)
        title.isOptional = false
        title.defaultValue = ""
        book.properties = [
            title, DiaryModel.attribute("pages", .integer16AttributeType),
            DiaryModel.attribute("shelf", .stringAttributeType),
        ]
        novel.properties = [DiaryModel.attribute("genre", .stringAttributeType)]
        author.properties = [DiaryModel.attribute("name", .stringAttributeType)]
        visitor.properties = [DiaryModel.attribute("card", .integer32AttributeType)]
        DiaryModel.relate(
            book, "author", (1, false, .nullifyDeleteRule), author, "books", (0, false, .nullifyDeleteRule))
        DiaryModel.relate(
            book, "reader", (1, false, .nullifyDeleteRule), visitor, "loans", (0, true, .nullifyDeleteRule))
        let model = NSManagedObjectModel()
        model.entities = [book, novel, author, visitor]
        return model
    }

    /// Authors are renamed to people; a book has several of them and 64-bit pages; the shelf is required; visitors are removed,
    /// and halls are added.
    static func new() -> NSManagedObjectModel {
        let book = DiaryModel.entity("Book", NSManagedObject.self)
        let novel = DiaryModel.entity("Novel", NSManagedObject.self)
        let person = DiaryModel.entity("Person", NSManagedObject.self)
        let hall = DiaryModel.entity("Hall", NSManagedObject.self)
        person.renamingIdentifier = "Author"
        book.subentities = [novel]
        let heading = DiaryModel.attribute("heading", .stringAttributeType)
        heading.isOptional = false
        heading.renamingIdentifier = "title"
        let shelf = DiaryModel.attribute("shelf", .stringAttributeType)
        shelf.isOptional = false
        shelf.defaultValue = "unsorted"
        let year = DiaryModel.attribute("year", .integer32AttributeType)
        year.defaultValue = 1900
        book.properties = [heading, DiaryModel.attribute("pages", .integer64AttributeType), shelf, year]
        novel.properties = [DiaryModel.attribute("genre", .stringAttributeType)]
        person.properties = [DiaryModel.attribute("name", .stringAttributeType)]
        hall.properties = [DiaryModel.attribute("name", .stringAttributeType)]
        DiaryModel.relate(
            book, "authors", (0, true, .nullifyDeleteRule), person, "books", (0, false, .nullifyDeleteRule))
        book.relationshipsByName["authors"]?.renamingIdentifier = "author"
        let model = NSManagedObjectModel()
        model.entities = [book, novel, person, hall]
        return model
    }
}

/// A folder with a store of the old model version. It is removed on deinitialisation.
final class OldLibrary {
    let folder: URL
    let old = LibraryModels.old()
    let new = LibraryModels.new()
    var source: URL { folder.appendingPathComponent("Library.sqlite") }
    var destination: URL { folder.appendingPathComponent("New.sqlite") }

    /// Inserts two books of one author, one of them a novel with a reader, and a book without values or relationships.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("Library-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write { context in
            func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let author = insert("Author", ["name": "Woolf"])
            let visitor = insert("Visitor", ["card": 7])
            _ = insert("Book", ["title": "A Room of One's Own", "pages": 172, "shelf": "E", "author": author])
            _ = insert("Novel", ["title": "Orlando", "genre": "biography", "author": author, "reader": visitor])
            _ = insert("Book", ["title": "Empty"])
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Changes the old store.
    func write(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try OldLibrary.open(source, LibraryModels.old()) { context in
            try body(context)
            try context.save()
        }
    }

    /// Opens a store with a model, and closes it again.
    static func open<Result>(
        _ url: URL, _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil,
        _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let result = try context.performAndWait { try body(context) }
        context.performAndWait { context.reset() }
        try coordinator.remove(store)
        return result
    }

    /// A line for each book of a migrated store.
    static func lines(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "heading", ascending: true)]
        return try context.fetch(request).map { book in
            let authors = (book.value(forKey: "authors") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            let names = authors.map { $0.value(forKey: "name") as? String ?? "" }.joined(separator: ",")
            let values = ["heading", "pages", "shelf", "year"].map { key in
                book.value(forKey: key).map { "\($0)" } ?? "nil"
            }
            return "\(book.entity.name ?? ""): \(values.joined(separator: "|"))|\(names)"
        }
    }

    static let migratedLines = [
        "Book: A Room of One's Own|172|E|1900|Woolf", "Book: Empty|nil|unsorted|1900|",
        "Novel: Orlando|nil|unsorted|1900|Woolf",
    ]
}

/// A policy that records every call.
class NotingPolicy: NSEntityMigrationPolicy {
    static func log(_ manager: NSMigrationManager) -> NSMutableArray? { manager.userInfo?["log"] as? NSMutableArray }

    private func note(_ call: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
        NotingPolicy.log(manager)?.add("\(call) \(mapping.name ?? "")")
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        note("begin", mapping, manager)
    }
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("create", mapping, manager)
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("created", mapping, manager)
    }
    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("relate", mapping, manager)
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("related", mapping, manager)
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("validate", mapping, manager)
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("end", mapping, manager)
    }
}

/// A policy that a mapping can name without its module.
#if canImport(Darwin)
    @objc(BareNamedPolicy)
#endif
final class BareNamedPolicy: NotingPolicy {}

/// A policy that fails, or cancels, depending on the manager's user info.
class FailingPolicy: NSEntityMigrationPolicy {
    static let error = NSError(domain: "Library", code: 42)

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        if manager.userInfo?["cancels"] != nil {
            manager.cancelMigrationWithError(CocoaError(CocoaError.Code(rawValue: NSMigrationCancelledError)))
            return
        }
        throw FailingPolicy.error
    }
}
