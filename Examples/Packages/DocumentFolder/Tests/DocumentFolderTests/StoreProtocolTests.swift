import Foundation
import SwiftData
import XCTest

/// What a context asks of a store, and what it does with the answers. Pages: DataStore, DataStoreError, DataStoreBatching,
/// DataStoreSaveChangesResult and HistoryProviding of the documentation.
final class StoreProtocolTests: XCTestCase {
    private let shelf = Shelf()
    private var container: ModelContainer!

    override func setUpWithError() throws {
        container = try ModelContainer(for: Article.self, configurations: ShelfConfiguration(shelf))
    }

    override func tearDown() { container = nil }

    private func fill(_ count: Int) throws -> ModelContext {
        let context = ModelContext(container)
        for words in 1...count { context.insert(Article(title: "N\(words)", words: words)) }
        try context.save()
        shelf.log = []
        return context
    }

    private let long = FetchDescriptor<Article>(
        predicate: #Predicate { $0.words > 2 }, sortBy: [SortDescriptor(\.words, order: .reverse)])

    // MARK: - Saving

    func testASaveHasTheChangesOnceAndTheStoreGivesIdentifiers() throws {
        let context = ModelContext(container)
        let article = Article(title: "Bees", words: 300)
        article.author = Writer(name: "Ann")
        context.insert(article)
        let temporary = article.persistentModelID
        XCTAssertNil(temporary.storeIdentifier)
        try context.save()

        let request = try XCTUnwrap(shelf.saves.first)
        XCTAssertEqual(shelf.saves.count, 1)
        XCTAssertEqual(Set(request.inserted.map(\.persistentIdentifier.entityName)), ["Article", "Writer"])
        XCTAssertTrue(request.inserted.allSatisfy { $0.persistentIdentifier.storeIdentifier == nil })
        let sent = try XCTUnwrap(request.inserted.first { $0.persistentIdentifier == temporary })
        let writer = try XCTUnwrap(request.inserted.first { $0.persistentIdentifier.entityName == "Writer" })
        let reference = try JSONSerialization.data(withJSONObject: XCTUnwrap(sent.fields["author"]))
        XCTAssertEqual(
            try JSONDecoder().decode(PersistentIdentifier.self, from: reference), writer.persistentIdentifier,
            "A new model is referred to by its temporary identifier.")

        XCTAssertEqual(article.persistentModelID.storeIdentifier, "shelf")
        XCTAssertNotNil(shelf.snapshots[article.persistentModelID])
        let author = try XCTUnwrap(article.author)
        XCTAssertNotNil(shelf.snapshots[author.persistentModelID])
        let fresh = try XCTUnwrap(ModelContext(container).fetch(FetchDescriptor<Article>()).first)
        XCTAssertEqual(fresh.author?.persistentModelID, author.persistentModelID)

        article.words = 301
        try context.save()
        XCTAssertEqual(shelf.saves[1].updated.map(\.persistentIdentifier), [article.persistentModelID])
        XCTAssertTrue(shelf.saves[1].inserted.isEmpty && shelf.saves[1].deleted.isEmpty)
        try context.save()
        XCTAssertEqual(shelf.saves.count, 2, "Without changes there is no request.")
    }

    func testAnErrorOfASaveReachesTheProgramAndChangesNothing() throws {
        let context = try fill(1)
        let article = try XCTUnwrap(context.fetch(FetchDescriptor<Article>()).first)
        article.words = 7
        context.insert(Article(title: "New", words: 8))
        shelf.saveError = DataStoreError.unsupportedFeature
        XCTAssertThrowsError(try context.save()) {
            XCTAssertEqual($0 as? DataStoreError, .unsupportedFeature)
        }
        XCTAssertEqual(context.insertedModelsArray.count, 1)
        XCTAssertEqual(context.changedModelsArray.count, 1)
        XCTAssertEqual(shelf.snapshots.count, 1)
        shelf.saveError = nil
        try context.save()
        XCTAssertEqual(Set(try ModelContext(container).fetch(FetchDescriptor<Article>()).map(\.words)), [7, 8])
    }

    func testAStoreThatGivesNoIdentifierIsAnError() throws {
        let context = ModelContext(container)
        context.insert(Article(title: "New", words: 8))
        shelf.identifies = false
        XCTAssertThrowsError(try context.save()) { XCTAssertEqual(($0 as NSError).code, 134_030) }
        XCTAssertTrue(context.hasChanges)
        shelf.identifies = true
        try context.save()
        XCTAssertFalse(context.hasChanges)
    }

    func testValuesThatTheStoreHasChangedAreReadFromItsAnswer() throws {
        let context = ModelContext(container)
        shelf.correction = { (try? $0.setting("title", to: "corrected")) ?? $0 }
        let article = Article(title: "draft", words: 1)
        context.insert(article)
        try context.save()
        let fresh = ModelContext(container)
        XCTAssertEqual((fresh.model(for: article.persistentModelID) as? Article)?.title, "corrected")
    }

    // MARK: - Fetching

    func testAStoreThatFiltersAndSortsIsAskedOnce() throws {
        _ = try fill(5)
        var descriptor = long
        descriptor.fetchLimit = 2
        descriptor.fetchOffset = 1
        XCTAssertEqual(try ModelContext(container).fetch(descriptor).map(\.words), [4, 3])
        XCTAssertEqual(shelf.log.filter { $0.hasPrefix("fetch") }, ["fetch Article where by limit 2 offset 1"])
    }

    func testTheContextDoesWhatTheStoreRefuses() throws {
        _ = try fill(5)
        var descriptor = long
        descriptor.fetchLimit = 2
        descriptor.fetchOffset = 1
        for (filters, sorts, request) in [
            (true, false, "fetch Article where"), (false, true, "fetch Article by"), (false, false, "fetch Article"),
        ] {
            (shelf.filters, shelf.sorts, shelf.log) = (filters, sorts, [])
            let context = ModelContext(container)
            XCTAssertEqual(try context.fetch(descriptor).map(\.words), [4, 3], request)
            XCTAssertEqual(shelf.log.last, request, "A limit cuts what is filtered and sorted.")
            XCTAssertEqual(try context.fetch(long).map(\.words), [5, 4, 3], request)
            XCTAssertEqual(try context.fetchCount(long), 3, request)
            XCTAssertEqual(try context.fetchIdentifiers(long).count, 3, request)
        }
    }

    func testOtherErrorsOfAFetchReachTheProgram() throws {
        _ = try fill(1)
        let context = ModelContext(container)
        for error in [DataStoreError.invalidPredicate, .unsupportedFeature] {
            shelf.fetchError = error
            XCTAssertThrowsError(try context.fetch(long)) { XCTAssertEqual($0 as? DataStoreError, error) }
            XCTAssertThrowsError(try context.fetchCount(long)) { XCTAssertEqual($0 as? DataStoreError, error) }
        }
        // A store that refuses even what it need not do.
        shelf.fetchError = DataStoreError.preferInMemoryFilter
        XCTAssertThrowsError(try context.fetch(FetchDescriptor<Article>())) {
            XCTAssertEqual($0 as? DataStoreError, .preferInMemoryFilter)
        }
    }

    func testUnsavedChangesArePartOfAFetch() throws {
        let context = try fill(3)
        context.insert(Article(title: "New", words: 9))
        let known = try XCTUnwrap(context.fetch(long).first { $0.words == 3 })
        known.words = 1
        XCTAssertEqual(try context.fetch(long).map(\.words), [9])
        var saved = long
        saved.includePendingChanges = false
        XCTAssertEqual(try context.fetchCount(saved), 1)
    }

    // MARK: - Deleting

    func testAStoreThatDeletesByAPredicateIsAskedOnceAndAtOnce() throws {
        let context = try fill(4)
        let other = ModelContext(container)
        let known = try context.fetch(long)
        let elsewhere = try XCTUnwrap(other.fetch(long).first)
        XCTAssertEqual(elsewhere.words, 4)
        context.insert(Article(title: "New", words: 9))
        context.insert(Article(title: "Short", words: 1))
        try context.delete(model: Article.self, where: #Predicate { $0.words > 2 })

        XCTAssertEqual(shelf.log.filter { $0.hasPrefix("delete") }, ["delete Article"])
        XCTAssertEqual(shelf.snapshots.count, 2)
        XCTAssertEqual(known.map(\.isDeleted), [true, true])
        XCTAssertEqual(known.map(\.words), [4, 3], "A deleted model keeps its values.")
        XCTAssertTrue(context.deletedModelsArray.isEmpty, "Nothing waits for the save.")
        XCTAssertEqual(context.insertedModelsArray.count, 1)
        XCTAssertEqual(try context.fetchCount(long), 0)
        try context.save()
        XCTAssertEqual(shelf.saves.last?.inserted.count, 1)
        XCTAssertEqual(shelf.saves.last?.deleted.count, 0)

        XCTAssertEqual(try other.fetchCount(long), 0)
        XCTAssertTrue(elsewhere.isDeleted)
        XCTAssertEqual(elsewhere.words, 4)
        try context.delete(model: Article.self)
        XCTAssertTrue(shelf.snapshots.isEmpty)
    }

    func testAnErrorOfADeletionReachesTheProgramAndDeletesNothing() throws {
        let context = try fill(4)
        let articles = try context.fetch(long)
        context.insert(Article(title: "New", words: 9))
        shelf.saveError = DataStoreError.unsupportedFeature
        XCTAssertThrowsError(try context.delete(model: Article.self, where: #Predicate { $0.words > 2 })) {
            XCTAssertEqual($0 as? DataStoreError, .unsupportedFeature)
        }
        XCTAssertEqual(articles.map(\.isDeleted), [false, false])
        XCTAssertEqual(context.insertedModelsArray.count, 1)
        XCTAssertEqual(shelf.snapshots.count, 4)
    }

    // MARK: - Contexts, configuration, history

    func testAStoreHearsOfContextsAndTheirAuthors() throws {
        shelf.log = []
        do {
            let context = ModelContext(container)
            context.author = "Ann"
            _ = try context.fetch(FetchDescriptor<Article>())
            context.insert(Article(title: "Bees", words: 1))
            try context.save()
        }
        XCTAssertEqual(shelf.log, ["begin", "fetch Article", "save 1 0 0", "end"])
        XCTAssertEqual(shelf.authors, ["Ann"])
        XCTAssertEqual(shelf.saves.map(\.editingState.author), ["Ann"])
    }

    func testAConfigurationIsValidatedAndAStoreNeedNotErase() {
        XCTAssertThrowsError(try container.erase()) { XCTAssertEqual($0 as? DataStoreError, .unsupportedFeature) }
        shelf.validationError = CocoaError(.fileNoSuchFile)
        XCTAssertThrowsError(try ModelContainer(for: Article.self, configurations: ShelfConfiguration(shelf))) {
            XCTAssertEqual(($0 as? CocoaError)?.code, .fileNoSuchFile)
        }
    }

    func testTheHistoryOfAStoreIsRead() throws {
        let context = ModelContext(container)
        for (number, author) in ["Ann", "Bob", "Ann"].enumerated() {
            context.author = author
            context.insert(Article(title: author, words: number))
            try context.save()
        }
        let all = try context.fetchHistory(HistoryDescriptor<ShelfTransaction>())
        XCTAssertEqual(all.map(\.author), ["Ann", "Bob", "Ann"])
        let by = HistoryDescriptor<ShelfTransaction>(predicate: #Predicate { $0.author == "Ann" })
        XCTAssertEqual(try context.fetchHistory(by).map(\.number), [1, 3])
        var first = HistoryDescriptor<ShelfTransaction>()
        first.fetchLimit = 1
        XCTAssertEqual(try context.fetchHistory(first).map(\.number), [1], "This store does not know the limit.")
        try context.deleteHistory(HistoryDescriptor<ShelfTransaction>(predicate: #Predicate { $0.number < 3 }))
        XCTAssertEqual(try context.fetchHistory(HistoryDescriptor<ShelfTransaction>()).map(\.number), [3])
        XCTAssertThrowsError(
            try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()), "No store has such a history.")
    }
}
