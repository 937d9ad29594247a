import CoreData

/// The books and magazines of a household.
public final class Bookshelf {
    public let container: NSPersistentContainer

    public var viewContext: NSManagedObjectContext { container.viewContext }

    /// Loaded once: each entity then belongs to one model, however many bookshelves there are.
    private static let model = Bundle.module.url(forResource: "Model", withExtension: "momd")
        .flatMap(NSManagedObjectModel.init(contentsOf:))

    /// Creates a bookshelf on disk or in memory. Throws where the model is missing from the bundle, or the store cannot
    /// be loaded.
    public init(inMemory: Bool = false) throws {
        guard let model = Self.model else { throw CocoaError(.fileReadNoSuchFile) }
        container = NSPersistentContainer(name: "Bookshelf", managedObjectModel: model)
        if inMemory {
            container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        }
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = failure ?? error }
        if let failure { throw failure }
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
