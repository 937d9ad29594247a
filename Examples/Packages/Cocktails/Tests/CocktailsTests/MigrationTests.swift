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

/// A version with initial values of every form, also with literals of other types than their properties.
enum PricedBooks {
    enum Shape: String, Codable { case narrow, wide }
    enum Phase: Codable { case open, closed }
    struct Frame: Codable, Hashable { var width = 3 }

    @Model
    final class Book {
        var title: String
        var pages: Int
        var price: Double = 2
        var shape: Shape = .wide
        var phase: Phase = Phase.closed
        var frame: Frame = Frame()
        var tags: [String] = ["new"]
        var frames: [Frame] = [Frame()]
        var small: UInt8 = 7
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

/// Two versions of a schema of which two stores have a part each.
enum ShelvedPlan: SchemaMigrationPlan {
    enum V1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [BooksV1.Book.self, Shelf.self] }
    }
    enum V2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [BooksV2.Book.self, Shelf.self] }
    }

    static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
    static let stages: [MigrationStage] = [
        .custom(
            fromVersion: V1.self, toVersion: V2.self, willMigrate: nil,
            didMigrate: { context in
                for book in try context.fetch(FetchDescriptor<BooksV2.Book>()) { book.isLong = book.pages > 100 }
            })
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
        let first = try XCTUnwrap(books.first)
        XCTAssertEqual(first.phase, .closed)
        XCTAssertEqual(first.tags, ["new"])
        XCTAssertEqual(first.frames, [PricedBooks.Frame()])
        let (wide, closed) = (PricedBooks.Shape.wide, PricedBooks.Phase.closed)
        func count(_ predicate: Predicate<PricedBooks.Book>) throws -> Int {
            try ModelContext(container).fetchCount(FetchDescriptor(predicate: predicate))
        }
        XCTAssertEqual(try count(#Predicate { $0.price == 2 }), 3)
        XCTAssertEqual(try count(#Predicate { $0.shape == wide }), 3)
        XCTAssertEqual(try count(#Predicate { $0.phase == closed }), 3)
        XCTAssertEqual(try count(#Predicate { $0.frame.width == 3 }), 3)
        XCTAssertEqual(try count(#Predicate { $0.small == 7 }), 3)
        XCTAssertEqual(
            Schema([PricedBooks.Book.self]).entities[0].attributesByName["price"]?.defaultValue as? Double, 2)
    }

    /// Each configuration has the versions of its part of the schema.
    func testThePlanIsRunForEachOfSeveralConfigurations() throws {
        func container<V: VersionedSchema>(of version: V.Type, _ book: any PersistentModel.Type) throws
            -> ModelContainer
        {
            try ModelContainer(
                for: Schema([book, Shelf.self], version: version.versionIdentifier), migrationPlan: ShelvedPlan.self,
                configurations: [
                    ModelConfiguration(
                        "books", schema: Schema([book]), url: folder.appendingPathComponent("books.store")),
                    ModelConfiguration(
                        "shelves", schema: Schema([Shelf.self]), url: folder.appendingPathComponent("shelves.store")),
                ])
        }
        for round in 1...2 {
            let context = ModelContext(try container(of: ShelvedPlan.V1.self, BooksV1.Book.self))
            context.insert(BooksV1.Book(title: "A", pages: round * 100))
            context.insert(Shelf(label: "S"))
            try context.save()
        }
        let context = ModelContext(try container(of: ShelvedPlan.V2.self, BooksV2.Book.self))
        let books = try context.fetch(FetchDescriptor<BooksV2.Book>(sortBy: [SortDescriptor(\.pages)]))
        XCTAssertEqual(books.map(\.isLong), [false, true])
        XCTAssertEqual(try context.fetchCount(FetchDescriptor<Shelf>()), 2)
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
