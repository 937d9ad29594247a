import CoreData
import XCTest

@testable import Bookshelf

final class BookshelfTests: XCTestCase {
    private var shelf: Bookshelf!

    override func setUpWithError() throws {
        shelf = try Bookshelf(inMemory: true)
    }

    override func tearDown() {
        shelf = nil
    }

    func testModelIsInTheBundle() {
        let entities = shelf.container.managedObjectModel.entitiesByName
        XCTAssertEqual(
            entities.keys.sorted(), ["Author", "Book", "Chapter", "Magazine", "Publication", "Topic"])
        XCTAssertEqual(Book.entity().name, "Book")
        XCTAssertEqual(entities["Book"]?.superentity?.name, "Publication")
    }

    func testAddingABook() throws {
        let book = shelf.addBook(title: "Solaris", author: "Stanisław Lem", chapters: ["The Arrival", "The Solarists"])
        book.pageCount = 204
        book.price = NSDecimalNumber(string: "12.50")
        try shelf.save()

        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.predicate = NSPredicate(format: "author.name BEGINSWITH %@", "Stan")
        let found = try XCTUnwrap(shelf.viewContext.fetch(request).first)
        XCTAssertEqual(found.title, "Solaris")
        XCTAssertEqual(found.pageCount, 204)
        XCTAssertEqual(found.price, 12.5)
        XCTAssertEqual(found.orderedChapters.map(\.heading), ["The Arrival", "The Solarists"])
        XCTAssertEqual(found.author?.sortedPublications, [found])
        XCTAssertEqual(found.sortTitle, "solaris")
    }

    func testCounting() throws {
        XCTAssertEqual(try shelf.count(of: Book.fetchRequest()), 0)
        for number in 1...5 { shelf.addBook(title: "Volume \(number)", author: "A. Author") }
        try shelf.save()
        XCTAssertEqual(try shelf.count(of: Book.fetchRequest()), 5)
        XCTAssertEqual(try shelf.count(of: Publication.fetchRequest()), 5)
        XCTAssertEqual(try shelf.count(of: Author.fetchRequest()), 1)
        XCTAssertEqual(try shelf.count(of: Magazine.fetchRequest()), 0)
    }

    func testOrderedRelationship() throws {
        let book = shelf.addBook(title: "Letters", chapters: ["A", "B", "C", "D"])
        func headings() -> [String] { book.orderedChapters.compactMap(\.heading) }
        let chapters = book.orderedChapters

        book.removeFromChapters(at: 1)
        XCTAssertEqual(headings(), ["A", "C", "D"])
        book.insertIntoChapters(chapters[1], at: 0)
        XCTAssertEqual(headings(), ["B", "A", "C", "D"])
        book.replaceChapters(at: 3, with: chapter("E"))
        XCTAssertEqual(headings(), ["B", "A", "C", "E"])
        book.removeFromChapters(at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)))
        XCTAssertEqual(headings(), ["C", "E"])
        book.insertIntoChapters(
            [chapter("X"), chapter("Y")], at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)))
        XCTAssertEqual(headings(), ["C", "X", "Y", "E"])
        book.replaceChapters(at: NSIndexSet(index: 0), with: [chapter("Z")])
        book.addToChapters(NSOrderedSet(array: [chapter("1"), chapter("2")]))
        XCTAssertEqual(headings(), ["Z", "X", "Y", "E", "1", "2"])
        book.removeFromChapters(NSOrderedSet(array: [book.orderedChapters[0], book.orderedChapters[2]]))
        XCTAssertEqual(headings(), ["X", "E", "1", "2"])
        XCTAssertEqual(book.orderedChapters[0].book, book)

        try shelf.save()
        shelf.viewContext.refreshAllObjects()
        XCTAssertEqual(headings(), ["X", "E", "1", "2"])
    }

    private func chapter(_ heading: String) -> Chapter {
        let chapter = Chapter(context: shelf.viewContext)
        chapter.heading = heading
        return chapter
    }

    func testProgressAndFiltering() throws {
        let book = shelf.addBook(title: "Long", chapters: ["1", "2", "3", "4"])
        XCTAssertEqual(book.progress, 0)
        book.orderedChapters.prefix(3).forEach { $0.isRead = true }
        XCTAssertEqual(book.progress, 0.75)
        try shelf.save()
        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.predicate = NSPredicate(format: "SUBQUERY(chapters, $c, $c.isRead == YES).@count >= %d", 3)
        XCTAssertEqual(try shelf.viewContext.fetch(request), [book])
    }

    func testToManyAccessors() throws {
        let magazine = Magazine(context: shelf.viewContext)
        magazine.title = "Sea"
        magazine.issue = 7
        let topics = ["whales", "ships"].map { name -> Topic in
            let topic = Topic(context: shelf.viewContext)
            topic.name = name
            return topic
        }
        magazine.addToTopics(NSSet(array: topics))
        XCTAssertEqual(magazine.topics?.count, 2)
        XCTAssertEqual(topics[0].magazines?.anyObject() as? Magazine, magazine)
        magazine.removeFromTopics(topics[0])
        XCTAssertEqual(magazine.topics, NSSet(object: topics[1]))
        magazine.addToTopics(topics[0])
        magazine.removeFromTopics(NSSet(object: topics[1]))
        XCTAssertEqual((magazine.topics as? Set<Topic>)?.compactMap(\.name), ["whales"])
        try shelf.save()
    }

    func testEveryKindOfAttribute() throws {
        let book = shelf.addBook(title: "Everything")
        let website = try XCTUnwrap(URL(string: "https://example.org/everything"))
        XCTAssertNil(book.rating)
        XCTAssertEqual(book.purchased, 0)
        book.rating = 4.5
        book.purchased = 86_400
        book.keywords = ["one", "two"]
        book.website = website
        book.cover = Data([1, 2, 3])
        book.summary = "not stored"
        book.size = ["width": 12.5, "height": 19.0]
        book.default = "escaped"
        try shelf.save()
        shelf.viewContext.reset()

        let found = try XCTUnwrap(shelf.viewContext.fetch(Book.fetchRequest() as NSFetchRequest<Book>).first)
        XCTAssertEqual(found.rating, 4.5)
        XCTAssertEqual(found.purchased, 86_400)
        XCTAssertEqual(found.value(forKey: "purchased") as? Date, Date(timeIntervalSinceReferenceDate: 86_400))
        XCTAssertEqual(found.keywords, ["one", "two"])
        XCTAssertEqual(found.website, website)
        XCTAssertEqual(found.cover, Data([1, 2, 3]))
        XCTAssertNil(found.summary)
        XCTAssertEqual(found.size?["width"] as? Double, 12.5)
        XCTAssertEqual(found.default, "escaped")
        XCTAssertEqual(found.sameTitle, [found])
    }

    /// Values in attributes of generated classes are changed in place: a transformable one by its generated property, and one of a
    /// type of the program by `@Tracked`.
    func testChangesInPlace() throws {
        let book = shelf.addBook(title: "Solaris")
        book.keywords = ["planet"]
        let topic = Topic(context: shelf.viewContext)
        XCTAssertEqual(topic.shelfLabel, Topic.Label())
        try shelf.save()
        XCTAssertFalse(shelf.viewContext.hasChanges)

        book.keywords?.append("sea")
        topic.shelfLabel.words.append("science")
        topic.shelfLabel.colour = "blue"
        XCTAssertEqual(Array(book.changedValues().keys), ["keywords"])
        XCTAssertEqual(Array(topic.changedValues().keys), ["label"])
        try shelf.save()
        shelf.viewContext.refreshAllObjects()
        XCTAssertEqual(book.keywords, ["planet", "sea"])
        XCTAssertEqual(topic.shelfLabel, Topic.Label(colour: "blue", words: ["science"]))

        topic.shelfLabel.words.removeAll()
        book.keywords?.removeFirst()
        shelf.viewContext.rollback()
        XCTAssertEqual(book.keywords, ["planet", "sea"])
        XCTAssertEqual(topic.shelfLabel.words, ["science"])
    }

    func testKeyPaths() throws {
        for (title, author) in [("B", "Zoe"), ("A", "Zoe"), ("C", "Ada")] {
            shelf.addBook(title: title, author: author)
        }
        try shelf.save()
        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.sortDescriptors = [
            NSSortDescriptor(keyPath: \Book.author?.name, ascending: true),
            NSSortDescriptor(keyPath: \Book.title, ascending: false),
        ]
        XCTAssertEqual(try shelf.viewContext.fetch(request).compactMap(\.title), ["C", "B", "A"])
        XCTAssertEqual(NSExpression(forKeyPath: \Publication.title).keyPath, "title")
        XCTAssertEqual(NSExpression(forKeyPath: \Book.chapters).keyPath, "chapters")
    }

    func testIdentity() {
        let author = shelf.findOrAddAuthor(named: "Ada")
        XCTAssertEqual(author.id, shelf.findOrAddAuthor(named: "ada").id)
        XCTAssertEqual(identities(of: [author]), [author.id])
    }

    private func identities<Object: Identifiable>(of objects: [Object]) -> [Object.ID] { objects.map(\.id) }

    /// The event in which a book was inserted ends when the run loop of the main thread runs.
    func testTheRunLoopEndsAnEvent() {
        nonisolated(unsafe) var inserted = 0
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: shelf.viewContext, queue: nil
        ) { inserted += ($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0 }
        defer { NotificationCenter.default.removeObserver(observer) }
        shelf.addBook(title: "Roadside Picnic")
        XCTAssertEqual(inserted, 0)
        for _ in 0..<100 where inserted == 0 { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05)) }
        XCTAssertEqual(inserted, 1)
    }

    func testBackgroundImport() async throws {
        let container = shelf.container
        let identifier = try await container.performBackgroundTask { context -> NSManagedObjectID in
            let book = Book(context: context)
            book.title = "From afar"
            try context.save()
            return book.objectID
        }
        let title = await MainActor.run { [viewContext = shelf.viewContext] in
            (viewContext.object(with: identifier) as? Book)?.title
        }
        XCTAssertEqual(title, "From afar")
    }
}
