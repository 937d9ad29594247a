import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import StoreMigrations

/// Compiled mapping models, as Xcode writes them.
@Suite(.enabled(if: CorpusStores.isPresent, "The files that Apple's tools wrote are absent."))
struct MappingModelFileTests {
    private static let fixtures = CorpusStores.directory
        .appendingPathComponent("alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures")

    private func model(_ name: String) throws -> NSManagedObjectModel {
        try NSManagedObjectModel.model(
            contentsOf: Self.fixtures.appendingPathComponent("SampleModel.momd/\(name).mom"))
    }

    private static let file = fixtures.appendingPathComponent("V2toV3.cdm")

    @Test func aCompiledMappingModelIsRead() throws {
        let mapping = try NSMappingModel.mappingModel(contentsOf: Self.file)
        #expect(NSMappingModel(contentsOf: Self.file) == mapping)
        #expect(
            mapping.entityMappings.map { $0.name ?? "" }.sorted() == [
                "CarToCar", "LuxuryCarToLuxuryCar", "Maker", "PersonToPerson", "SportCarToSportCar",
            ])
        let car = try #require(mapping.entityMappingsByName["CarToCar"])
        #expect(car.mappingType == .customEntityMappingType)
        #expect(car.entityMigrationPolicyClassName == "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
        #expect(
            car.sourceExpression?.description
                == "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Car\", \"TRUEPREDICATE\"), "
                + "$manager.sourceContext, NO)")
        #expect(
            car.relationshipMappings?.first { $0.name == "owner" }?.valueExpression?.description
                == "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"PersonToPerson\", "
                + "$source.owner)")
        // The hashes are those of the compiled models.
        let (old, new) = try (model("SampleModel2"), model("SampleModel3"))
        for entity in mapping.entityMappings {
            if let name = entity.sourceEntityName {
                #expect(entity.sourceEntityVersionHash == old.entityVersionHashesByName[name])
            }
            if let name = entity.destinationEntityName {
                #expect(entity.destinationEntityVersionHash == new.entityVersionHashesByName[name])
            }
        }
    }

    @Test func aMappingModelIsFoundByItsHashes() throws {
        let folder = try StoreFolder(name: "Maps.bundle")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: Self.file, to: folder.url.appendingPathComponent("V2toV3.cdm"))
        let bundle = try #require(Bundle(path: folder.url.path))
        let (old, new) = try (model("SampleModel2"), model("SampleModel3"))
        #expect(NSMappingModel(from: [bundle], forSourceModel: old, destinationModel: new) != nil)
        #expect(NSMappingModel(from: [bundle], forSourceModel: new, destinationModel: old) == nil)
    }

    /// A policy that gives every car the maker of its own mapping.
    private final class MakerPolicy: NSEntityMigrationPolicy {}

    /// A store of Apple's is migrated by Apple's mapping model. Each row is migrated once, although cars have subentities.
    @Test func aStoreIsMigratedByACompiledMappingModel() throws {
        MakerPolicy.register(as: "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
        let store = try CorpusStores.copy(CorpusStores.renamed)
        let (old, new) = try (model("SampleModel2"), model("SampleModel3"))
        let mapping = try NSMappingModel.mappingModel(contentsOf: Self.file)
        let destination = store.directory.appendingPathComponent("New.sqlite")
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: store.url, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        func counts(_ url: URL, _ model: NSManagedObjectModel) throws -> [String: Int] {
            let open = try OpenStore(at: url, model: model)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = open.coordinator
            var counts: [String: Int] = [:]
            for name in ["Car", "SportCar", "LuxuryCar", "Person"] {
                counts[name] = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: name))
            }
            let owned = NSFetchRequest<NSManagedObject>(entityName: "Car")
            owned.predicate = NSPredicate(format: "owner != nil")
            counts["owned"] = try context.count(for: owned)
            return counts
        }
        let before = try counts(store.url, old)
        #expect(before["Car"] != 0 && before["owned"] != 0)
        #expect(try counts(destination, new) == before)
    }
}
