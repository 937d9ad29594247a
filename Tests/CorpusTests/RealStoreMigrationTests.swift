import Coral
import CoralMigration
import CoralTools
import Testing

#if !canImport(Darwin)

    /// Stores of apps are migrated to the later versions of their models.
    @Suite(.enabled(if: Engine.hasRows), .enabled(if: !Corpus.stores.isEmpty, "The files of the corpus are not here."))
    struct RealStoreMigrationTests {
        private func migration(_ model: String, mappings: [String] = []) throws -> ProgressiveMigration {
            var migration = try ProgressiveMigration(toModelAt: Corpus.root.appendingPathComponent(model))
            migration.mappings = try mappings.map {
                try MigrationMapping(contentsOf: Corpus.root.appendingPathComponent($0))
            }
            return migration
        }

        private func copy(_ path: String) throws -> StoreCopy {
            try StoreCopy(Corpus.root.appendingPathComponent(path))
        }

        /// The values of the attributes that records of an entity have before and after, by id.
        private func values(_ records: [GraphRecord], _ entity: String, _ names: [String]) -> [String: [GraphValue]] {
            Dictionary(
                uniqueKeysWithValues: records.filter { $0.entity == entity }.map { record in
                    (record.id.text, names.map { record.value(of: $0) ?? .null })
                })
        }

        @Test(arguments: ["Moody.moody", "Moody 3.moody", "Moody 5.moody"])
        func `moods reach the sixth version by mapping models`(_ name: String) throws {
            let copy = try copy("objcio+core-data/Migrations/MigrationsTests/\(name)")
            let old = try #require(try StoreInspection(url: copy.url).cachedModel)
            let before = try MigrationOracle.records(copy.url, old)
            let identifier = try StoreInspection(url: copy.url).metadata[NSStoreUUIDKey] as? String
            let folder = "objcio+core-data/Migrations/Migrations"
            let migration = try migration(
                "\(folder)/Moody.xcdatamodeld",
                mappings: ["\(folder)/Moody 2-Moody 3.xcmappingmodel", "\(folder)/Moody 4-Moody 5.xcmappingmodel"])
            #expect(migration.destination.name == "Moody 6")
            try migration.migrateStore(at: copy.url)
            let after = try MigrationOracle.records(copy.url, migration.destination.model)
            #expect(
                values(after, "Mood", ["date", "latitude", "longitude"])
                    == values(before, "Mood", ["date", "latitude", "longitude"]))
            func countries(_ records: [GraphRecord]) -> [String: [RecordID]] {
                Dictionary(
                    uniqueKeysWithValues: records.filter { $0.entity == "Mood" }.map {
                        ($0.id.text, $0.target(of: "country")?.ids ?? [])
                    })
            }
            #expect(countries(after) == countries(before))
            #expect(after.count { $0.entity == "Country" } == 3)
            let inspection = try StoreInspection(url: copy.url)
            #expect(inspection.metadata[NSStoreUUIDKey] as? String == identifier)
            #expect(inspection.metadata["io.objc.Moody.CloudKitUserID"] != nil)
            #expect(try StoreCheck(url: copy.url, model: migration.destination.model).problems() == [])
        }

        /// Creates a colour for each post, as the app's own policy does.
        private final class ColourPolicy: NSEntityMigrationPolicy {
            override func createDestinationInstances(
                forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
            ) throws {
                try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
                let posts = manager.destinationInstances(
                    forEntityMappingName: mapping.name, sourceInstances: [sInstance])
                let colour = NSEntityDescription.insertNewObject(
                    forEntityName: "Color", into: manager.destinationContext)
                colour.setValue(sInstance.value(forKey: "hexColor"), forKey: "hex")
                posts.first?.setValue(colour, forKey: "color")
            }
        }

        @Test func `posts reach the fourth version by mapping models and a policy`() throws {
            ColourPolicy.register(as: "CoreDataMigration_Example.Post2ToPost3MigrationPolicy")
            let example = "wibosco+CoreDataMigration-Example"
            let copy = try copy(
                "\(example)/CoreDataMigration-ExampleTests/Resources/SQLite/CoreDataMigration_Example_1.sqlite")
            let old = try #require(try StoreInspection(url: copy.url).cachedModel)
            let before = values(try MigrationOracle.records(copy.url, old), "Post", ["postID", "date", "color"])
            let data = "\(example)/CoreDataMigration-Example/CoreData"
            let migration = try migration(
                "\(data)/Model/CoreDataMigration_Example.xcdatamodeld",
                mappings: [
                    "\(data)/Migration/Mappings/Migration1to2.xcmappingmodel",
                    "\(data)/Migration/Mappings/Migration2to3.xcmappingmodel",
                ])
            #expect(try migration.migrateStore(at: copy.url).count == 3)
            let after = try MigrationOracle.records(copy.url, migration.destination.model)
            #expect(values(after, "Post", ["postID", "date"]) == before.mapValues { Array($0.prefix(2)) })
            let colours = values(after, "Color", ["hex"])
            #expect(before.count == 1001 && colours.count == 1001)
            for record in after where record.entity == "Post" {
                let colour = record.target(of: "color")?.ids.first.flatMap { colours[$0.text]?.first }
                #expect(colour == before[record.id.text]?.last)
            }
        }

        /// Apple's framework has migrated the same store. The result is the same, object by object.
        @Test func `cars are migrated as by Apple's framework`() throws {
            let folder = "alemar11+CoreDataPlus/Tests/Resources/SampleModel"
            let copy = try copy("\(folder)/Fixtures/SampleModel_V1.sqlite")
            let witness = try self.copy("\(folder)/Fixtures/SampleModel_V2.sqlite")
            let migration = try migration("\(folder)/SampleModel.xcdatamodeld/SampleModel2.xcdatamodel")
            try migration.migrateStore(at: copy.url)
            let model = migration.destination.model
            let found = try MigrationOracle.records(copy.url, model)
            let expected = try MigrationOracle.records(witness.url, model)
            let oracle = MigrationOracle(old: model, new: model)
            #expect(found.count == 145)
            #expect(oracle.expected(found) == oracle.expected(expected))
        }

        /// The intermediate version, in which the name was first renamed, is not in the corpus: it is made from the first. The
        /// expected value is that of the store of the last version.
        @Test func `a name that was renamed twice is kept`() throws {
            let folder = "jeffreybergier+CoreDataMigrationTests/CoreDataMigration"
            let copy = try copy("\(folder)/CoreDataMigrationTests/Example_v1.0.0.sqlite")
            let witness = try self.copy("\(folder)/CoreDataMigrationTests/Example_v2.0.0.sqlite")
            let versions = try ModelVersion.versions(
                at: Corpus.root.appendingPathComponent("\(folder)/CoreDataMigration/Model.xcdatamodeld"))
            let (first, last) = try (#require(versions.first), #require(versions.last))
            let between = try #require(first.model.copy() as? NSManagedObjectModel)
            let name = try #require(between.entitiesByName["BasicEntity"]?.attributesByName["v1_0_0_name"])
            name.name = "v1_2_0_name"
            name.renamingIdentifier = "v1_0_0_name"
            let migration = ProgressiveMigration(
                to: last, through: [first, ModelVersion(name: "v1.2.0", model: between)])
            #expect(try migration.migrateStore(at: copy.url).count == 2)
            let found = try MigrationOracle.records(copy.url, last.model)
            let expected = try MigrationOracle.records(witness.url, last.model)
            #expect(found.count == 1)
            #expect(found.map(\.attributes) == expected.map(\.attributes))
        }

        @Test(arguments: [
            ("Tests/BookmarksTests/Resources/Bookmarks_V1.sqlite", "Bookmarks/BookmarksModel", 10),
            ("Tests/BookmarksTests/Resources/Bookmarks_V2.sqlite", "Bookmarks/BookmarksModel", 10),
            ("Tests/BookmarksTests/Resources/Bookmarks_V4.sqlite", "Bookmarks/BookmarksModel", 10),
            ("Tests/DDGSyncTests/Resources/SyncMetadata_V3.sqlite", "DDGSync/SyncMetadata", 4),
        ])
        func `bookmarks reach the current version`(_ store: String, _ model: String, _ count: Int) throws {
            let copy = try copy("duckduckgo+BrowserServicesKit/\(store)")
            let migration = try migration("duckduckgo+BrowserServicesKit/Sources/\(model).xcdatamodeld")
            let old = try #require(try StoreInspection(url: copy.url).cachedModel)
            let before = try MigrationOracle.records(copy.url, old)
            let result = try MigrationRehearsal(migration).run(onStoreAt: copy.url)
            #expect(result.isPossible && result.objectCount == count)
            try migration.migrateStore(at: copy.url)
            let oracle = MigrationOracle(old: old, new: migration.destination.model)
            #expect(try oracle.found(copy.url) == oracle.expected(before))
        }
    }

#endif
