import Foundation
import SwiftData
import XCTest

enum BooksV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self] }

    @Model
    final class Book {
        var title: String
        var pages: Int
        init(title: String, pages: Int) {
            self.title = title
            self.pages = pages
        }
    }
}

enum BooksV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self] }

    @Model
    final class Book {
        @Attribute(originalName: "title") var name: String
        var pages: Int
        var isLong: Bool?
        init(name: String, pages: Int) {
            self.name = name
            self.pages = pages
        }
    }
}

enum BooksV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self] }

    @Model
    final class Book {
        @Attribute(.unique) var name: String
        var pages: Int
        var isLong: Bool?
        init(name: String, pages: Int) {
            self.name = name
            self.pages = pages
        }
    }
}

/// A version with initial values whose literals have other types than their properties.
enum PricedBooks {
    enum Shape: String, Codable { case narrow, wide }

    @Model
    final class Book {
        var title: String
        var pages: Int
        var price: Double = 2
        var shape: Shape = .wide
        init(title: String) {
            self.title = title
            pages = 0
        }
    }
}

enum BooksPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [BooksV1.self, BooksV2.self, BooksV3.self] }
    // A constant must be Sendable in Swift 6.
    static let stages: [MigrationStage] = [
        .custom(
            fromVersion: BooksV1.self, toVersion: BooksV2.self, willMigrate: nil,
            didMigrate: { context in
                for book in try context.fetch(FetchDescriptor<BooksV2.Book>()) { book.isLong = book.pages > 100 }
                try context.save()
            }),
        .custom(
            fromVersion: BooksV2.self, toVersion: BooksV3.self,
            willMigrate: { context in
                var seen: Set<String> = []
                for book in try context.fetch(FetchDescriptor<BooksV2.Book>(sortBy: [SortDescriptor(\.pages)])) {
                    if !seen.insert(book.name).inserted { context.delete(book) }
                }
                try context.save()
            }, didMigrate: nil),
    ]
}

final class MigrationTests: XCTestCase {
    private var folder: URL!
    private var configuration: ModelConfiguration {
        ModelConfiguration(url: folder.appendingPathComponent("books.store"))
    }

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDown() { try? FileManager.default.removeItem(at: folder) }

    private func makeFirst() throws {
        let context = ModelContext(
            try ModelContainer(for: Schema(versionedSchema: BooksV1.self), configurations: configuration))
        for (title, pages) in [("A", 50), ("B", 200), ("A", 300)] {
            context.insert(BooksV1.Book(title: title, pages: pages))
        }
        try context.save()
    }

    func testThePlanIsRunStageByStage() throws {
        try makeFirst()
        let container = try ModelContainer(
            for: Schema(versionedSchema: BooksV3.self), migrationPlan: BooksPlan.self, configurations: configuration)
        let books = try ModelContext(container).fetch(FetchDescriptor<BooksV3.Book>(sortBy: [SortDescriptor(\.name)]))
        XCTAssertEqual(books.map(\.name), ["A", "B"])
        XCTAssertEqual(books.map(\.pages), [50, 200])
        XCTAssertEqual(books.map(\.isLong), [false, true])
    }

    func testWithoutAPlanTheChangeIsInferred() throws {
        try makeFirst()
        let container = try ModelContainer(for: BooksV2.Book.self, configurations: configuration)
        let books = try ModelContext(container).fetch(FetchDescriptor<BooksV2.Book>(sortBy: [SortDescriptor(\.pages)]))
        XCTAssertEqual(books.map(\.name), ["A", "B", "A"])
        XCTAssertEqual(books.map(\.isLong), [nil, nil, nil])
    }

    func testExistingRowsGetTheInitialValuesOfNewProperties() throws {
        try makeFirst()
        let container = try ModelContainer(for: PricedBooks.Book.self, configurations: configuration)
        let books = try ModelContext(container).fetch(FetchDescriptor<PricedBooks.Book>())
        XCTAssertEqual(books.map(\.price), [2, 2, 2])
        XCTAssertEqual(books.map(\.shape), [.wide, .wide, .wide])
        let priced = #Predicate<PricedBooks.Book> { $0.price == 2 }
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor(predicate: priced)), 3)
        XCTAssertEqual(
            Schema([PricedBooks.Book.self]).entities[0].attributesByName["price"]?.defaultValue as? Double, 2)
    }

    func testAStoreThatIsNewerThanTheProgramIsRefused() throws {
        _ = try ModelContainer(for: Schema(versionedSchema: BooksV3.self), configurations: configuration)
        XCTAssertThrowsError(
            try ModelContainer(
                for: Schema(versionedSchema: BooksV1.self), migrationPlan: BooksPlan.self, configurations: configuration
            )
        ) { error in XCTAssertEqual(error as? SwiftDataError, .backwardMigration) }
    }

    func testASchemaThatThePlanDoesNotHaveIsRefused() throws {
        try makeFirst()
        XCTAssertThrowsError(
            try ModelContainer(
                for: Schema([PricedBooks.Book.self], version: Schema.Version(9, 0, 0)), migrationPlan: BooksPlan.self,
                configurations: configuration)
        ) { error in
            XCTAssertEqual(error as? SwiftDataError, .unknownSchema)
            XCTAssertTrue("\(error)".contains("BooksPlan"))
        }
    }

    func testAPlanWithoutTheStageIsRefused() throws {
        enum Gap: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { BooksPlan.schemas }
            static var stages: [MigrationStage] { [] }
        }
        try makeFirst()
        XCTAssertThrowsError(
            try ModelContainer(
                for: Schema(versionedSchema: BooksV2.self), migrationPlan: Gap.self, configurations: configuration)
        ) { error in
            XCTAssertEqual(error as? SwiftDataError, .unknownSchema)
            XCTAssertTrue("\(error)".contains("1.0.0 to 2.0.0"), "\(error)")
        }
    }

    func testAStoreOfNoVersionIsRefused() throws {
        _ = try ModelContainer(for: Holder.self, configurations: configuration)
        XCTAssertThrowsError(
            try ModelContainer(
                for: Schema(versionedSchema: BooksV3.self), migrationPlan: BooksPlan.self, configurations: configuration
            )
        ) { error in XCTAssertEqual((error as NSError).code, 134504) }
    }
}
