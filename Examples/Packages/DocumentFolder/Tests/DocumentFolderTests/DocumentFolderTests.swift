import Foundation
import SwiftData
import XCTest

@testable import DocumentFolder

@Model
final class Article {
    var title: String
    var words: Int
    var written: Date
    var kind: Kind = Kind.essay
    var place: Place?
    var tags: [String] = []
    @Relationship(deleteRule: .cascade, inverse: \Comment.article) var comments: [Comment] = []
    var author: Writer?

    enum Kind: String, Codable { case essay, news }
    struct Place: Codable, Hashable {
        var city: String
        var country: String?
    }

    init(title: String, words: Int) {
        self.title = title
        self.words = words
        written = Date(timeIntervalSinceReferenceDate: 0)
    }
}

@Model
final class Comment {
    var text: String
    var article: Article?
    init(text: String) { self.text = text }
}

@Model
final class Writer {
    var name: String
    @Relationship(inverse: \Article.author) var articles: [Article] = []
    init(name: String) { self.name = name }
}

final class DocumentFolderTests: XCTestCase {
    private var folder: URL!

    override func setUp() {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    }

    override func tearDown() { try? FileManager.default.removeItem(at: folder) }

    private func makeContainer() throws -> ModelContainer {
        try ModelContainer(for: Article.self, configurations: FolderConfiguration(folder))
    }

    private func documents(_ entity: String) throws -> [String] {
        let found = try? FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent(entity).path)
        return found ?? []
    }

    private func fill(_ context: ModelContext) throws -> Article {
        let writer = Writer(name: "Ann")
        let article = Article(title: "Bees", words: 300)
        article.kind = .news
        article.place = Article.Place(city: "Bern", country: nil)
        article.tags = ["bees", "honey"]
        article.author = writer
        article.comments = [Comment(text: "Good"), Comment(text: "Long")]
        let other = Article(title: "Ants", words: 900)
        other.author = writer
        context.insert(article)
        context.insert(other)
        try context.save()
        return article
    }

    func testModelsAreDocumentsThatAnotherContainerReads() throws {
        let context = ModelContext(try makeContainer())
        let article = try fill(context)
        XCTAssertFalse(context.hasChanges)
        XCTAssertEqual(article.persistentModelID.storeIdentifier, "folder")
        XCTAssertEqual(try documents("Article").count, 2)
        XCTAssertEqual(try documents("Comment").count, 2)
        XCTAssertEqual(try documents("Writer").count, 1)

        let fresh = ModelContext(try makeContainer())
        let found = try fresh.fetch(FetchDescriptor<Article>(sortBy: [SortDescriptor(\.title)]))
        XCTAssertEqual(found.map(\.title), ["Ants", "Bees"])
        let bees = found[1]
        XCTAssertEqual(bees.persistentModelID, article.persistentModelID)
        XCTAssertEqual(bees.words, 300)
        XCTAssertEqual(bees.written, article.written)
        XCTAssertEqual(bees.kind, .news)
        XCTAssertEqual(bees.place, Article.Place(city: "Bern", country: nil))
        XCTAssertEqual(bees.tags, ["bees", "honey"])
        XCTAssertEqual(Set(bees.comments.map(\.text)), ["Good", "Long"])
        XCTAssertTrue(bees.comments.allSatisfy { $0.article === bees })
        XCTAssertEqual(bees.author?.name, "Ann")
        XCTAssertEqual(Set((bees.author?.articles ?? []).map(\.title)), ["Ants", "Bees"])
        XCTAssertTrue(bees.author === found[0].author)
    }

    func testFetchesFilterSortAndCount() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        _ = try fill(context)
        for words in 1...5 { context.insert(Article(title: "N\(words)", words: words)) }
        try context.save()
        let fresh = ModelContext(container)
        var descriptor = FetchDescriptor<Article>(
            predicate: #Predicate { $0.words < 4 || $0.author?.name == "Ann" },
            sortBy: [SortDescriptor(\.words, order: .reverse)])
        XCTAssertEqual(try fresh.fetch(descriptor).map(\.words), [900, 300, 3, 2, 1])
        XCTAssertEqual(try fresh.fetchCount(descriptor), 5)
        XCTAssertEqual(try fresh.fetchIdentifiers(descriptor).count, 5)
        descriptor.fetchLimit = 2
        descriptor.fetchOffset = 1
        XCTAssertEqual(try fresh.fetch(descriptor).map(\.words), [300, 3])
        var plain = FetchDescriptor<Article>()
        plain.fetchLimit = 3
        XCTAssertEqual(try fresh.fetch(plain).count, 3)
        let named = #Predicate<Comment> { $0.article?.title == "Bees" }
        XCTAssertEqual(try fresh.fetchCount(FetchDescriptor(predicate: named)), 2)
    }

    func testChangesAndDeletionsReachTheDocuments() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = try fill(context)
        article.words = 301
        article.comments.removeFirst()
        try context.save()
        let fresh = ModelContext(container)
        let same = try XCTUnwrap(fresh.model(for: article.persistentModelID) as? Article)
        XCTAssertEqual(same.words, 301)
        XCTAssertEqual(same.comments.count, 1)
        context.delete(article)
        try context.save()
        XCTAssertEqual(try documents("Article").count, 1)
        XCTAssertEqual(try documents("Comment").count, 1, "The cascade deletes the comment that the article still has.")
        XCTAssertEqual(try fresh.fetchCount(FetchDescriptor<Article>()), 1)
        let writer = try XCTUnwrap(ModelContext(try makeContainer()).fetch(FetchDescriptor<Writer>()).first)
        XCTAssertEqual(writer.articles.map(\.title), ["Ants"])
    }

    /// A document that another program has changed is read by the next fetch.
    func testAFetchReadsChangedDocuments() throws {
        let context = ModelContext(try makeContainer())
        let article = try fill(context)
        let other = ModelContext(try makeContainer())
        let same = try XCTUnwrap(other.fetch(FetchDescriptor<Article>()).first { $0.title == "Bees" })
        XCTAssertEqual(same.words, 300)
        article.words = 302
        try context.save()
        _ = try other.fetch(FetchDescriptor<Article>())
        XCTAssertEqual(same.words, 302)
    }

    func testAnErrorOfTheStoreLeavesTheChangesUnsaved() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        _ = try fill(context)
        // A file where the folder of an entity should be.
        try FileManager.default.removeItem(at: folder.appendingPathComponent("Writer"))
        try Data().write(to: folder.appendingPathComponent("Writer"))
        context.insert(Writer(name: "Eve"))
        XCTAssertThrowsError(try context.save())
        XCTAssertTrue(context.hasChanges)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("Writer"))
        try context.save()
        XCTAssertEqual(try documents("Writer").count, 1)
    }

    func testIdentifiersFindModelsAndTheStoreIsErased() throws {
        let container = try makeContainer()
        let article = try fill(ModelContext(container))
        let coded = try JSONEncoder().encode(article.persistentModelID)
        let identifier = try JSONDecoder().decode(PersistentIdentifier.self, from: coded)
        XCTAssertEqual((ModelContext(try makeContainer()).model(for: identifier) as? Article)?.title, "Bees")
        try container.erase()
        XCTAssertEqual(try documents("Article"), [])
        XCTAssertEqual(try ModelContext(try makeContainer()).fetchCount(FetchDescriptor<Article>()), 0)
    }

    func testAStoreBesideAStoreInAFile() throws {
        let configuration = ModelConfiguration(
            "writers", schema: Schema([Note.self]), url: folder.appendingPathComponent("notes.store"))
        let container = try ModelContainer(
            for: Schema([Article.self, Note.self]),
            configurations: [FolderConfiguration(folder, schema: Schema([Article.self])), configuration])
        let context = ModelContext(container)
        context.insert(Article(title: "Bees", words: 1))
        context.insert(Note(text: "Buy honey"))
        try context.save()
        XCTAssertEqual(try documents("Article").count, 1)
        let fresh = ModelContext(container)
        XCTAssertEqual(try fresh.fetch(FetchDescriptor<Note>()).map(\.text), ["Buy honey"])
        XCTAssertEqual(try fresh.fetch(FetchDescriptor<Article>()).map(\.title), ["Bees"])
    }
}

@Model
final class Note {
    var text: String
    init(text: String) { self.text = text }
}
