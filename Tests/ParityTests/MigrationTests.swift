import CoreData
import Testing

/// Sets the attributes of each migrated object to nil in the source.
final class EmptyingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        for name in sInstance.entity.attributesByName.keys { sInstance.setValue(nil, forKey: name) }
        try manager.sourceContext.save()
    }
}

/// The migration manager.
@Suite struct MigrationTests {
    private func migrate(
        _ library: OldLibrary, _ change: (NSMappingModel, NSMigrationManager) -> Void = { _, _ in }
    ) throws -> NSMigrationManager {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: library.old, destinationModel: library.new)
        let manager = NSMigrationManager(sourceModel: library.old, destinationModel: library.new)
        manager.usesStoreSpecificMigrationManager = false
        change(mapping, manager)
        try manager.migrateStore(
            from: library.source, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
            toDestinationURL: library.destination, destinationType: NSSQLiteStoreType, destinationOptions: nil)
        return manager
    }

    private func bookMapping(_ mapping: NSMappingModel) -> NSEntityMapping? {
        mapping.entityMappingsByName["IEM_Transform_Book"]
    }

    // MARK: - The manager

    @Test func aStoreIsMigratedByItsObjects() throws {
        let library = try OldLibrary()
        let manager = try migrate(library)
        #expect(
            try OldLibrary.open(library.destination, LibraryModels.new(), OldLibrary.lines) == OldLibrary.migratedLines)
        #expect(manager.migrationProgress == 0)
        // The source is unchanged.
        let count = try OldLibrary.open(library.source, LibraryModels.old()) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Visitor"))
        }
        #expect(count == 1)
    }

    /// NSMigrationManager, `migrationProgress`: the value can be observed. A test of the package CoreDataPlus expects that it reaches 1.
    @Test func progressCanBeObserved() throws {
        var observed: [Float] = []
        var observation: NSKeyValueObservation?
        let manager = try migrate(try OldLibrary()) { _, manager in
            observation = manager.observe(\.migrationProgress, options: [.new]) { _, change in
                observed.append(change.newValue ?? -1)
            }
        }
        #expect(observed.last == 1)
        #expect(observed == observed.sorted() && observed.allSatisfy { $0 >= 0 })
        withExtendedLifetime((manager, observation)) {}
    }

    /// NSMigrationManager: "If a store exists at the destination, the migrated objects are added to it."
    @Test func aDestinationThatExistsIsAppendedTo() throws {
        let library = try OldLibrary()
        _ = try migrate(library)
        _ = try migrate(library)
        let lines = try OldLibrary.open(library.destination, LibraryModels.new(), OldLibrary.lines)
        #expect(lines == OldLibrary.migratedLines.flatMap { [$0, $0] })
    }

    /// "Three-Stage Migration": each stage is done for all mappings before the next begins.
    @Test func policiesAreCalledStageByStage() throws {
        let library = try OldLibrary()
        let log = NSMutableArray()
        _ = try migrate(library) { mapping, manager in
            manager.userInfo = ["log": log]
            for name in ["IEM_Transform_Book", "IEM_Transform_Person"] {
                mapping.entityMappingsByName[name]?.entityMigrationPolicyClassName = NSStringFromClass(
                    NotingPolicy.self)
            }
        }
        let (book, person) = ("IEM_Transform_Book", "IEM_Transform_Person")
        #expect(
            log.compactMap { $0 as? String } == [
                "begin \(book)", "create \(book)", "create \(book)", "created \(book)", "begin \(person)",
                "create \(person)", "created \(person)", "relate \(book)", "relate \(book)", "related \(book)",
                "relate \(person)", "related \(person)", "validate \(book)", "end \(book)", "validate \(person)",
                "end \(person)",
            ])
    }

    /// Sworm's mapping models name their policies without a module: https://github.com/prisma-ai/sworm
    @Test func aPolicyIsFoundByItsBareName() throws {
        let library = try OldLibrary()
        let log = NSMutableArray()
        _ = try migrate(library) { mapping, manager in
            manager.userInfo = ["log": log]
            mapping.entityMappingsByName["IEM_Transform_Person"]?.entityMigrationPolicyClassName = "BareNamedPolicy"
        }
        #expect(log.contains("begin IEM_Transform_Person"))
    }

    /// A policy can change a source that is opened for writing. Sworm, `testBlobsMigration`, empties the source as it migrates:
    /// https://github.com/prisma-ai/sworm
    @Test func aWritableSourceIsChanged() throws {
        let library = try OldLibrary()
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: library.old, destinationModel: library.new)
        mapping.entityMappingsByName["IEM_Transform_Person"]?.entityMigrationPolicyClassName = NSStringFromClass(
            EmptyingPolicy.self)
        let manager = NSMigrationManager(sourceModel: library.old, destinationModel: library.new)
        manager.usesStoreSpecificMigrationManager = false
        try manager.migrateStore(
            from: library.source, sourceType: NSSQLiteStoreType, options: [NSReadOnlyPersistentStoreOption: false],
            with: mapping, toDestinationURL: library.destination, destinationType: NSSQLiteStoreType,
            destinationOptions: nil)
        var names: [String?] = []
        try library.write { context in
            names = try context.all("Author").map { $0.value(forKey: "name") as? String }
        }
        #expect(names == [nil])
    }

    /// "Mapping Model Objects": the variables of value expressions.
    @Test func valueExpressionsReadTheirVariables() throws {
        let library = try OldLibrary()
        _ = try migrate(library) { mapping, manager in
            manager.userInfo = ["shelf": "moved"]
            for entity in mapping.entityMappings {
                for property in entity.attributeMappings ?? [] {
                    switch property.name {
                    case "shelf": property.valueExpression = NSExpression(format: "$manager.userInfo.shelf")
                    case "pages": property.valueExpression = NSExpression(format: "$source.author.books.@count")
                    case "year": property.valueExpression = NSExpression(forConstantValue: 2001)
                    default: break
                    }
                }
            }
        }
        let lines = try OldLibrary.open(library.destination, LibraryModels.new(), OldLibrary.lines)
        #expect(lines.first == "Book: A Room of One's Own|2|moved|2001|Woolf")
    }

    /// NSMigrationManager: instances of a mapping, by source instances, in both directions.
    @Test func instancesAreAssociated() throws {
        let library = try OldLibrary()
        _ = try migrate(library) { mapping, _ in
            bookMapping(mapping)?.relationshipMappings?.first?.valueExpression = NSExpression(
                format: "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", "
                    + "\"IEM_Transform_Person\", $source.author)")
        }
        #expect(
            try OldLibrary.open(library.destination, LibraryModels.new(), OldLibrary.lines) == OldLibrary.migratedLines)
    }

    // MARK: - Failures

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as NSError).code
        }
    }

    @Test func aPolicysErrorEndsTheMigration() throws {
        let library = try OldLibrary()
        func fail(_ userInfo: [AnyHashable: Any]) -> Int? {
            code {
                _ = try migrate(library) { mapping, manager in
                    manager.userInfo = userInfo
                    bookMapping(mapping)?.entityMigrationPolicyClassName = NSStringFromClass(FailingPolicy.self)
                }
            }
        }
        #expect(fail([:]) == FailingPolicy.error.code)
        #expect(fail(["cancels": true]) == NSMigrationCancelledError)
        #expect(fail(["cancels": true]) == NSMigrationCancelledError)
    }

    /// CoreDataPlus, `test_CancelMigrationFromV2ToV3`, cancels before the migration begins: https://github.com/alemar11/CoreDataPlus
    @Test func aMigrationIsCancelledBeforeItBegins() throws {
        let library = try OldLibrary()
        var managers: [NSMigrationManager] = []
        let cancelled = code {
            _ = try migrate(library) { _, manager in
                managers.append(manager)
                manager.cancelMigrationWithError(CocoaError(CocoaError.Code(rawValue: NSMigrationCancelledError)))
            }
        }
        #expect(cancelled == NSMigrationCancelledError)
        #expect(!FileManager.default.fileExists(atPath: library.destination.path))
        // The next call of the same manager is not cancelled.
        let manager = try #require(managers.first)
        try manager.migrateStore(
            from: library.source, sourceType: NSSQLiteStoreType, options: nil,
            with: NSMappingModel.inferredMappingModel(forSourceModel: library.old, destinationModel: library.new),
            toDestinationURL: library.destination, destinationType: NSSQLiteStoreType, destinationOptions: nil)
        let lines = try OldLibrary.open(library.destination, LibraryModels.new(), OldLibrary.lines)
        #expect(lines == OldLibrary.migratedLines)
    }

    @Test func storesThatCannotBeOpenedAreRefused() throws {
        let library = try OldLibrary()
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: library.old, destinationModel: library.new)
        func migrate(_ source: URL, _ destination: URL, _ model: NSMappingModel?) -> Int? {
            code {
                try NSMigrationManager(sourceModel: library.old, destinationModel: library.new).migrateStore(
                    from: source, sourceType: NSSQLiteStoreType, options: nil, with: model,
                    toDestinationURL: destination,
                    destinationType: NSSQLiteStoreType, destinationOptions: nil)
            }
        }
        let absent = library.folder.appendingPathComponent("absent.sqlite")
        #expect(migrate(absent, library.destination, mapping) == NSMigrationManagerSourceStoreError)
        let nowhere = library.folder.appendingPathComponent("none/New.sqlite")
        #expect(migrate(library.source, nowhere, mapping) == NSMigrationManagerDestinationStoreError)
        #expect(migrate(library.source, library.destination, nil) == NSMigrationMissingMappingModelError)
    }

    /// "The destination store is saved with validation as usual."
    @Test func theSaveValidates() throws {
        let library = try OldLibrary()
        let code = code {
            _ = try migrate(library) { mapping, _ in
                bookMapping(mapping)?.attributeMappings?.first { $0.name == "heading" }?.valueExpression = nil
            }
        }
        #expect(code == NSValidationMultipleErrorsError)
        #expect(!FileManager.default.fileExists(atPath: library.destination.path))
    }

    /// CoreDataPlus, `makeBookMapping()` of its third version, states the source instances in the format that Xcode writes.
    @Test func aFormatFetchesTheSourceInstances() throws {
        let library = try OldLibrary()
        _ = try migrate(library) { mapping, _ in
            bookMapping(mapping)?.sourceExpression = NSExpression(
                format: #"FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:" , "Book", "#
                    + #""pages > 100"), $manager.sourceContext, NO)"#)
        }
        let lines = try OldLibrary.open(library.destination, LibraryModels.new(), OldLibrary.lines)
        #expect(lines == OldLibrary.migratedLines.filter { !$0.hasPrefix("Book: Empty") })
    }
}
