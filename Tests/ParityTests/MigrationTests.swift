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

/// Mapping models and the migration manager.
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

    // MARK: - Mapping models

    /// "Lightweight Migration": names and types of inferred mappings, a property mapping for each attribute of the new
    /// entity, relationships of both versions only.
    /// https://developer.apple.com/documentation/coredata/nsmappingmodel/inferredmappingmodel(forsourcemodel:destinationmodel:)
    @Test func aMappingModelIsInferred() throws {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: LibraryModels.old(), destinationModel: LibraryModels.new())
        let types = mapping.entityMappingsByName.mapValues(\.mappingType)
        #expect(
            types == [
                "IEM_Transform_Book": .transformEntityMappingType, "IEM_Transform_Novel": .transformEntityMappingType,
                "IEM_Transform_Person": .transformEntityMappingType, "IEM_Add_Hall": .addEntityMappingType,
                "IEM_Remove_Visitor": .removeEntityMappingType,
            ])
        let book = try #require(bookMapping(mapping))
        #expect(book.sourceEntityName == "Book" && book.destinationEntityName == "Book")
        #expect(book.sourceEntityVersionHash == LibraryModels.old().entityVersionHashesByName["Book"])
        #expect(book.destinationEntityVersionHash == LibraryModels.new().entityVersionHashesByName["Book"])
        #expect(Set((book.attributeMappings ?? []).map(\.name)) == ["heading", "pages", "shelf", "year"])
        #expect(book.attributeMappings?.first { $0.name == "year" }?.valueExpression == nil)
        #expect((book.relationshipMappings ?? []).map(\.name) == ["authors"])
        #expect(mapping.entityMappingsByName["IEM_Transform_Person"]?.sourceEntityName == "Author")
    }

    /// inferredMappingModel: "If … the mapping model cannot be inferred, error contains … `reason`, `entity`, `property`".
    @Test func anImpossibleMappingHasAReason() throws {
        let new = LibraryModels.new()
        let strict = DiaryModel.attribute("barcode", .stringAttributeType)
        strict.isOptional = false
        new.entitiesByName["Book"]?.properties += [strict]
        let error = #expect(throws: CocoaError.self) {
            try NSMappingModel.inferredMappingModel(forSourceModel: LibraryModels.old(), destinationModel: new)
        }
        #expect(error?.code.rawValue == NSInferredMappingModelError)
        #expect(error?.userInfo["entity"] as? String == "Book")
        #expect(error?.userInfo["property"] as? String == "barcode")
        #expect((error?.userInfo["reason"] as? String)?.isEmpty == false)
    }

    /// NSEntityMapping: "If no name is set … source->destination"; mappings are found by name; nil resets them.
    @Test func aMappingModelIsMadeByHand() {
        let mapping = NSEntityMapping()
        mapping.sourceEntityName = "Author"
        mapping.destinationEntityName = "Person"
        #expect(mapping.name == "Author->Person")
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        #expect(model.entityMappingsByName["Author->Person"] === mapping)
        model.entityMappings = nil
        #expect(model.entityMappings.isEmpty)
    }

    // MARK: - The manager

    @Test func aStoreIsMigratedByItsObjects() throws {
        let library = try OldLibrary()
        let manager = try migrate(library)
        #expect(
            try OldLibrary.open(library.destination, LibraryModels.new(), OldLibrary.lines) == OldLibrary.migratedLines)
        #expect(manager.migrationProgress == 0)
        // The source is as it was.
        let count = try OldLibrary.open(library.source, LibraryModels.old()) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Visitor"))
        }
        #expect(count == 1)
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
}
