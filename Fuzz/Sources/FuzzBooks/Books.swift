import CoreData
import FuzzSupport
import Foundation

/// A model and a store for the fuzzers that need one.
public enum Books {
    /// Books with pages and authors, and comics, a subentity of books.
    public static func model() -> NSManagedObjectModel {
        let book = entity(
            "Book",
            [
                ("title", .stringAttributeType), ("price", .decimalAttributeType), ("rank", .doubleAttributeType),
                ("published", .dateAttributeType), ("identifier", .UUIDAttributeType), ("site", .URIAttributeType),
                ("count", .integer64AttributeType), ("isRead", .booleanAttributeType),
                ("cover", .binaryDataAttributeType),
            ])
        let comic = entity("Comic", [("isColoured", .booleanAttributeType)])
        let page = entity("Page", [("number", .integer32AttributeType)])
        let author = entity("Author", [("name", .stringAttributeType)])
        book.subentities = [comic]
        connect(book, "pages", true, page, "book", false, isOrdered: true)
        connect(book, "authors", true, author, "books", true)
        connect(book, "sequel", false, book, "prequel", false)
        book.uniquenessConstraints = [["title"]]
        let model = NSManagedObjectModel()
        model.entities = [book, comic, page, author]
        return model
    }

    /// A temporary folder in memory, emptied for each input.
    public static let folder: URL = {
        let memory = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        return URL(fileURLWithPath: memory).appendingPathComponent("fuzz-\(ProcessInfo.processInfo.processIdentifier)")
    }()

    /// The bytes of a store of the model with some objects, in one file.
    public static let store = makeStore()

    /// The same store with a history.
    public static let storeWithHistory = makeStore(options: [NSPersistentHistoryTrackingKey: true])

    private static func makeStore(options: [AnyHashable: Any] = [:]) -> Data {
        let url = emptied().appendingPathComponent("Books.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        attempt {
            try fill(coordinator, at: url, options: options)
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        return (try? Data(contentsOf: url)) ?? Data()
    }

    /// Creates a store with some objects.
    public static func fill(
        _ coordinator: NSPersistentStoreCoordinator, at url: URL, options: [AnyHashable: Any] = [:]
    ) throws {
        let options = options.merging([NSSQLitePragmasOption: ["journal_mode": "delete"]]) { $1 }
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("Ada", forKey: "name")
            for number in 0..<3 {
                let name = number == 2 ? "Comic" : "Book"
                let book = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                book.setValue("Title \(number)", forKey: "title")
                book.setValue(Data([1, 2, 3]), forKey: "cover")
                book.setValue(NSSet(object: author), forKey: "authors")
                let page = NSEntityDescription.insertNewObject(forEntityName: "Page", into: context)
                page.setValue(book, forKey: "book")
            }
            try context.save()
        }
    }

    /// The empty folder.
    public static func emptied() -> URL {
        try? FileManager.default.removeItem(at: folder)
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        return entity
    }

    private static func connect(
        _ one: NSEntityDescription, _ forth: String, _ isToMany: Bool, _ other: NSEntityDescription, _ back: String,
        _ inverseIsToMany: Bool, isOrdered: Bool = false
    ) {
        let (first, second) = (NSRelationshipDescription(), NSRelationshipDescription())
        (first.name, first.destinationEntity, first.maxCount) = (forth, other, isToMany ? 0 : 1)
        (second.name, second.destinationEntity, second.maxCount) = (back, one, inverseIsToMany ? 0 : 1)
        (first.isOptional, second.isOptional, first.isOrdered) = (true, true, isOrdered)
        (first.inverseRelationship, second.inverseRelationship) = (second, first)
        one.properties.append(first)
        other.properties.append(second)
    }
}
