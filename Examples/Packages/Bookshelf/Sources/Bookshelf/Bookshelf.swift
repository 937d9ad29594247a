import CoreData

/// The books and magazines of a household.
public final class Bookshelf {
    public let container: NSPersistentContainer

    public var viewContext: NSManagedObjectContext { container.viewContext }

    static let model: NSManagedObjectModel = {
        guard let url = Bundle.module.url(forResource: "Model", withExtension: "momd"),
            let model = NSManagedObjectModel(contentsOf: url)
        else {
            fatalError("The model is missing from the bundle.")
        }
        return model
    }()

    public init(inMemory: Bool = false) {
        container = NSPersistentContainer(name: "Bookshelf", managedObjectModel: Self.model)
        if inMemory {
            container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        }
        container.loadPersistentStores { _, error in
            if let error { fatalError("The store could not be loaded: \(error)") }
        }
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    }

    @discardableResult
    public func addBook(title: String, author: String? = nil, chapters: [String] = []) -> Book {
        let book = Book(context: viewContext)
        book.title = title
        book.published = Date()
        if let author { book.author = findOrAddAuthor(named: author) }
        for heading in chapters {
            let chapter = Chapter(context: viewContext)
            chapter.heading = heading
            book.addToChapters(chapter)
        }
        return book
    }

    public func findOrAddAuthor(named name: String) -> Author {
        let request: NSFetchRequest<Author> = Author.fetchRequest()
        request.predicate = NSPredicate(format: "name ==[c] %@", name)
        request.fetchLimit = 1
        if let found = try? viewContext.fetch(request).first { return found }
        let author = Author(context: viewContext)
        author.id = UUID()
        author.name = name
        return author
    }

    public func count<Object: NSManagedObject>(of request: NSFetchRequest<Object>) throws -> Int {
        try viewContext.count(for: request)
    }

    public func save() throws {
        guard viewContext.hasChanges else { return }
        try viewContext.save()
    }
}
