import Foundation
import SwiftData
import Synchronization
import Testing

// Models without macros, which need a trait.

private enum First: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self] }

    final class Book: PersistentModel {
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [.init(name: "title", keypath: \Book.title), .init(name: "pages", keypath: \Book.pages)]
        }
        var persistentBackingData: any BackingData<Book>
        init(backingData: any BackingData<Book>) { persistentBackingData = backingData }
        init(title: String, pages: Int) {
            persistentBackingData = Book._createBackingData()
            self.title = title
            self.pages = pages
        }
        var title: String {
            get { getValue(forKey: \.title) }
            set { setValue(forKey: \.title, to: newValue) }
        }
        var pages: Int {
            get { getValue(forKey: \.pages) }
            set { setValue(forKey: \.pages, to: newValue) }
        }
    }
}

private enum Second: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self] }

    final class Book: PersistentModel {
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "title", keypath: \Book.title), .init(name: "pages", keypath: \Book.pages),
                .init(name: "isLong", keypath: \Book.isLong),
            ]
        }
        var persistentBackingData: any BackingData<Book>
        init(backingData: any BackingData<Book>) { persistentBackingData = backingData }
        var title: String { getValue(forKey: \.title) }
        var pages: Int { getValue(forKey: \.pages) }
        var isLong: Bool? {
            get { getValue(forKey: \.isLong) }
            set { setValue(forKey: \.isLong, to: newValue) }
        }
    }
}

/// Has the entities of the first version again.
private enum Third: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [First.Book.self] }
}

private enum ReturningPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self, Third.self] }
    static let stages: [MigrationStage] = [
        .lightweight(fromVersion: First.self, toVersion: Second.self),
        .lightweight(fromVersion: Second.self, toVersion: Third.self),
    ]
}

/// A stage whose work cannot be done twice: each run of the first function adds to the titles.
private enum Plan: SchemaMigrationPlan {
    struct Interruption: Error {}
    enum Place { case willMigrate, didMigrate }
    /// Where the next migration throws.
    static let interruption = Mutex<Place?>(nil)

    static func interrupt(at place: Place) throws {
        let isHere = interruption.withLock { next in
            defer { if next == place { next = nil } }
            return next == place
        }
        if isHere { throw Interruption() }
    }

    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
    static let stages: [MigrationStage] = [
        .custom(
            fromVersion: First.self, toVersion: Second.self,
            willMigrate: { context in
                for book in try context.fetch(FetchDescriptor<First.Book>()) { book.title += "!" }
                try context.save()
                try interrupt(at: .willMigrate)
            },
            didMigrate: { context in
                for (number, book) in try context.fetch(FetchDescriptor<Second.Book>()).enumerated() {
                    if number == 1 { try interrupt(at: .didMigrate) }
                    book.isLong = book.pages > 100
                    try context.save()
                }
            })
    ]
}

@Suite("A custom stage is done completely or not at all", .serialized)
struct CustomStageTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private var configuration: ModelConfiguration {
        ModelConfiguration(url: folder.appendingPathComponent("Books.store"))
    }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let context = ModelContext(
            try ModelContainer(for: Schema(versionedSchema: First.self), configurations: configuration))
        for (title, pages) in [("A", 50), ("B", 200), ("C", 300)] {
            context.insert(First.Book(title: title, pages: pages))
        }
        try context.save()
    }

    private func migrated() throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: Second.self), migrationPlan: Plan.self, configurations: configuration)
    }

    /// As the stages of `NSStagedMigrationManager`: DEVIATIONS, 60.
    @Test(
        "A function that throws leaves the store as it was, and the next opening runs both",
        arguments: [true, false])
    func interrupted(atFirst: Bool) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        Plan.interruption.withLock { $0 = atFirst ? .willMigrate : .didMigrate }
        #expect(throws: Plan.Interruption.self) { try migrated() }
        try {
            let first = ModelContext(
                try ModelContainer(for: Schema(versionedSchema: First.self), configurations: configuration))
            let titles = try first.fetch(FetchDescriptor<First.Book>(sortBy: [SortDescriptor(\.title)])).map(\.title)
            #expect(titles == ["A", "B", "C"])
        }()
        let context = ModelContext(try migrated())
        let books = try context.fetch(FetchDescriptor<Second.Book>(sortBy: [SortDescriptor(\.title)]))
        #expect(books.map(\.title) == ["A!", "B!", "C!"])
        #expect(books.map(\.isLong) == [false, true, true])
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.allSatisfy { $0.hasPrefix("Books.store") }, "\(files)")
    }

    @Test("A container of classes is for the last version that has their entities", arguments: [true, false])
    func lastOfEqualVersions(isList: Bool) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        func container(_ schema: Schema) throws -> ModelContainer {
            try ModelContainer(for: schema, migrationPlan: ReturningPlan.self, configurations: configuration)
        }
        _ = try container(Schema(versionedSchema: Second.self))
        for schema in [
            Schema(versionedSchema: First.self), Schema([First.Book.self], version: Schema.Version(1, 0, 0)),
        ] {
            #expect(throws: SwiftDataError.backwardMigration) { try container(schema) }
        }
        let context = ModelContext(try container(isList ? Schema([First.Book.self]) : Schema(First.Book.self)))
        let books = try context.fetch(FetchDescriptor<First.Book>(sortBy: [SortDescriptor(\.title)]))
        #expect(books.map(\.title) == ["A", "B", "C"])
    }
}
