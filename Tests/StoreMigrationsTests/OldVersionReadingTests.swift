import Foundation
import GRDB
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// A coordinator has a store open with a model while another one migrates the store to a later version, in which entities have
/// other numbers.
@Suite struct OldVersionReadingTests {
    private static func options(_ journal: String) -> [AnyHashable: Any] {
        [NSSQLitePragmasOption: ["journal_mode": journal], NSPersistentHistoryTrackingKey: true]
    }

    /// Animals of three kinds in one table. The later version does not have the first kind: no table changes, but the numbers of the
    /// others do.
    private static func animals(_ names: [String]) -> NSManagedObjectModel {
        let animal = NotesModel.entity("Animal", [NotesModel.attribute("name", .stringAttributeType)])
        let kinds = names.map { NotesModel.entity($0, []) }
        animal.subentities = kinds
        let model = NSManagedObjectModel()
        model.entities = [animal] + kinds
        return model
    }

    private static let kinds = ["Bear", "Cat", "Dog"]

    private func store(_ url: URL, _ journal: String) throws -> OpenStore {
        let open = try OpenStore(at: url, model: Self.animals(Self.kinds), options: Self.options(journal))
        let context = MigrationComparison.context(open.coordinator)
        for kind in Self.kinds {
            let animal = NSEntityDescription.insertNewObject(forEntityName: kind, into: context)
            animal.setValue("a \(kind)", forKey: "name")
        }
        try context.save()
        return open
    }

    private func migrate(_ url: URL, _ journal: String) throws {
        try InPlaceMigration(
            url: url, options: Self.options(journal),
            models: [Self.animals(Self.kinds), Self.animals(["Cat", "Dog"])]
        ).run()
    }

    private func names(_ entity: String, _ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.returnsObjectsAsFaults = false
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
    }

    private func expectRefusal(
        _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let error = #expect(throws: CocoaError.self, comment, sourceLocation: sourceLocation) { try body() }
        #expect(error?.errorCode == 134100, comment, sourceLocation: sourceLocation)
    }

    @Test(arguments: ["WAL", "DELETE"]) func aReadThatWouldReturnOtherEntitiesIsRefused(_ journal: String) throws {
        let folder = try StoreFolder()
        let open = try store(folder.url, journal)
        let context = MigrationComparison.context(open.coordinator)
        #expect(try names("Bear", context) == ["a Bear"])
        #expect(try names("Cat", context) == ["a Cat"])
        let identifiers = NSFetchRequest<NSManagedObjectID>(entityName: "Dog")
        identifiers.resultType = .managedObjectIDResultType
        let dog = try #require(try context.fetch(identifiers).first)
        func tables() throws -> [String] { try MigrationComparison.schema(folder.url).filter { !$0.hasPrefix("[") } }
        let schema = try tables()
        try migrate(folder.url, journal)
        #expect(try tables() == schema)

        // Repeated, because the read after an error must fail too.
        for _ in 1...3 {
            for entity in ["Animal", "Bear", "Cat", "Dog"] {
                let other = MigrationComparison.context(open.coordinator)
                expectRefusal("a fetch of \(entity)") { _ = try names(entity, other) }
                expectRefusal("a count of \(entity)") {
                    _ = try other.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
                }
                expectRefusal("the identifiers of \(entity)") {
                    let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
                    request.resultType = .managedObjectIDResultType
                    _ = try other.fetch(request)
                }
                expectRefusal("dictionaries of \(entity)") {
                    let request = NSFetchRequest<NSDictionary>(entityName: entity)
                    request.resultType = .dictionaryResultType
                    _ = try other.fetch(request)
                }
            }
            expectRefusal("an object") {
                _ = try MigrationComparison.context(open.coordinator).existingObject(with: dog)
            }
            expectRefusal("the history") {
                _ = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
            }
            expectRefusal("a save") {
                let other = MigrationComparison.context(open.coordinator)
                _ = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: other)
                try other.save()
            }
        }
        // The objects that were read before have one state of the old model.
        let loaded = context.registeredObjects.compactMap { object in
            object.isFault ? nil : "\(object.entity.name ?? ""): \(object.value(forKey: "name") ?? "")"
        }
        #expect(loaded.sorted() == ["Bear: a Bear", "Cat: a Cat"])

        let new = try OpenStore(
            at: folder.url, model: Self.animals(["Cat", "Dog"]), options: Self.options(journal))
        #expect(try names("Animal", MigrationComparison.context(new.coordinator)) == ["a Cat", "a Dog"])
    }

    @Test(arguments: ["WAL", "DELETE"]) func aReadOnlyConnectionIsRefusedToo(_ journal: String) throws {
        let folder = try StoreFolder()
        do { _ = try store(folder.url, journal) }
        let open = try OpenStore(
            at: folder.url, model: Self.animals(Self.kinds), options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try names("Dog", MigrationComparison.context(open.coordinator)) == ["a Dog"])
        try migrate(folder.url, journal)
        expectRefusal("a fetch") { _ = try names("Dog", MigrationComparison.context(open.coordinator)) }
        expectRefusal("a second fetch") { _ = try names("Cat", MigrationComparison.context(open.coordinator)) }
    }

    /// A context with a query generation reads the state before the migration.
    @Test func aPinnedStateIsRead() throws {
        let folder = try StoreFolder()
        let open = try store(folder.url, "WAL")
        let context = MigrationComparison.context(open.coordinator)
        try context.setQueryGenerationFrom(.current)
        #expect(try names("Bear", context) == ["a Bear"])
        try migrate(folder.url, "WAL")
        for kind in Self.kinds { #expect(try names(kind, context) == ["a \(kind)"]) }
        #expect(try names("Animal", context) == ["a Bear", "a Cat", "a Dog"])
        try context.setQueryGenerationFrom(.current)
        expectRefusal("the new state") { _ = try names("Cat", context) }
    }

    @Test func aCommitOfAnotherConnectionCostsNoStatement() throws {
        let folder = try StoreFolder()
        let log = StatementLog()
        let stack = try log.stack(model: Self.animals(Self.kinds), url: folder.url)
        let context = MigrationComparison.context(stack.coordinator)
        let other = try OpenStore(at: folder.url, model: Self.animals(Self.kinds))
        _ = try names("Animal", context)
        for _ in 1...3 {
            let writing = MigrationComparison.context(other.coordinator)
            _ = NSEntityDescription.insertNewObject(forEntityName: "Cat", into: writing)
            try writing.save()
            let statements = try log.counting { _ = try names("Animal", context) }
            #expect(statements.count == 1, "\(statements)")
        }
    }
}
