import CoreDataErrors
import Foundation
import GRDB
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import StoreMigrations
@testable import SQLStores

/// Migrations through several versions of a model, with code between them.
@Suite struct StagedMigrationTests {
    /// Notes whose text becomes a number: in the second version it is absent, so that the first version cannot become the
    /// third by inference; the fourth has one attribute more.
    private static func model(_ version: Int) -> NSManagedObjectModel {
        let note = NotesModel.entity("Note", [NotesModel.attribute("title", .stringAttributeType)])
        if version == 1 { note.properties += [NotesModel.attribute("size", .stringAttributeType)] }
        if version >= 3 { note.properties += [NotesModel.attribute("size", .integer64AttributeType)] }
        if version >= 4 { note.properties += [NotesModel.attribute("colour", .stringAttributeType)] }
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    private static func checksum(_ version: Int) -> String { model(version).versionChecksum }

    private static func reference(_ version: Int) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model(version), versionChecksum: checksum(version))
    }

    private static func light(_ versions: Int...) -> NSMigrationStage {
        NSLightweightMigrationStage(versions.map(checksum))
    }

    private static func custom(_ from: Int, _ to: Int) -> NSCustomMigrationStage {
        NSCustomMigrationStage(migratingFrom: reference(from), to: reference(to))
    }

    private static func options(
        _ manager: NSStagedMigrationManager, _ others: [AnyHashable: Any] = [:]
    ) -> [AnyHashable: Any] {
        [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSPersistentStoreStagedMigrationManagerOptionKey: manager,
        ].merging(others) { $1 }
    }

    private func makeStore(_ url: URL, version: Int = 1, sizes: [String] = ["1", "20", "300"]) throws {
        try MigrationComparison.withStore(url, Self.model(version)) { coordinator in
            let context = MigrationComparison.context(coordinator)
            for (index, size) in sizes.enumerated() {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue("note \(index)", forKey: "title")
                if version == 1 { note.setValue(size, forKey: "size") }
            }
            try context.save()
        }
    }

    private func checksum(of url: URL) throws -> String? {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)[
            NSPersistentStoreModelVersionChecksumKey] as? String
    }

    // MARK: - Outcomes

    /// Stages, the version of the coordinator, and the code of the error.
    private static let outcomes: [(name: String, stages: @Sendable () -> [NSMigrationStage], last: Int, code: Int?)] = [
        ("custom, light", { [custom(1, 2), light(3)] }, 3, nil),
        ("light, custom", { [light(1), custom(2, 3)] }, 3, nil),
        ("custom, custom", { [custom(1, 2), custom(2, 3)] }, 3, nil),
        ("custom, light of two", { [custom(1, 2), light(3, 4)] }, 4, nil),
        ("light, custom, light", { [light(1), custom(2, 3), light(4)] }, 4, nil),
        ("light around custom", { [light(1, 4), custom(2, 3)] }, 4, nil),
        ("light, light", { [light(1, 2), light(3, 4)] }, 4, 134140),
        ("custom before the store's version", { [custom(2, 3), light(1, 4)] }, 4, 134140),
        ("backwards", { [light(3, 4), custom(1, 2)] }, 4, 134506),
        ("a coordinator's model in no stage", { [custom(1, 2)] }, 3, 134504),
        ("a version in two stages", { [light(1, 2), light(2, 3)] }, 3, 134110),
        ("a store in no stage", { [light(2, 3)] }, 3, 134504),
    ]

    @Test(arguments: outcomes.indices) func anOutcome(_ index: Int) throws {
        let (name, stages, last, code) = Self.outcomes[index]
        let folder = try StoreFolder()
        try makeStore(folder.url)
        let manager = NSStagedMigrationManager(stages())
        do {
            let open = try OpenStore(at: folder.url, model: Self.model(last), options: Self.options(manager))
            #expect(code == nil, "\(name)")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            #expect(try MigrationComparison.context(open.coordinator).count(for: request) == 3)
        } catch let error as CocoaError {
            #expect(error.errorCode == code, "\(name): \(error)")
        }
        #expect(manager.container == nil)
    }

    @Test func `the errors of stores that do not fit state the reasons, in the words of coral explain`() throws {
        let folder = try StoreFolder()
        try makeStore(folder.url)
        let reason = "size: type is string in the store, integer64 in the model"
        let plain = #expect(throws: CocoaError.self) { try OpenStore(at: folder.url, model: Self.model(3)) }
        #expect(plain?.errorCode == NSPersistentStoreIncompatibleVersionHashError)
        #expect(plain?.localizedDescription.contains(reason) == true, "\(String(describing: plain))")
        let manager = NSStagedMigrationManager([
            NSCustomMigrationStage(migratingFrom: Self.reference(3), to: Self.reference(4))
        ])
        let staged = #expect(throws: CocoaError.self) {
            try OpenStore(at: folder.url, model: Self.model(4), options: Self.options(manager))
        }
        #expect(staged?.errorCode == NSManagedObjectModelReferenceNotFoundError)
        #expect(staged?.localizedDescription.contains(reason) == true, "\(String(describing: staged))")
    }

    @Test func aStoreOfALaterVersionIsRefused() throws {
        let folder = try StoreFolder()
        try makeStore(folder.url, version: 3)
        let manager = NSStagedMigrationManager([Self.custom(1, 2), Self.custom(2, 3)])
        let error = #expect(throws: CocoaError.self) {
            try OpenStore(at: folder.url, model: Self.model(1), options: Self.options(manager))
        }
        #expect(error?.errorCode == NSStagedMigrationBackwardMigrationError)
    }

    @Test func aStoreInTheMiddleSkipsTheStagesBeforeIt() throws {
        let folder = try StoreFolder()
        try makeStore(folder.url, version: 2)
        let first = Self.custom(1, 2)
        first.didMigrateHandler = { _, _ in Issue.record("The stage is not skipped.") }
        let manager = NSStagedMigrationManager([first, Self.custom(2, 3)])
        _ = try OpenStore(at: folder.url, model: Self.model(3), options: Self.options(manager))
        #expect(try checksum(of: folder.url) == Self.checksum(3))
    }

    @Test func aStoreWithoutAChecksumIsRefused() throws {
        let folder = try StoreFolder()
        try makeStore(folder.url)
        try DatabaseQueue(path: folder.url.path).write { database in
            var metadata = try StoreMetadata(in: database, url: nil)
            metadata.content[NSPersistentStoreModelVersionChecksumKey] = nil
            try metadata.write(to: database)
        }
        let manager = NSStagedMigrationManager([Self.custom(1, 2), Self.custom(2, 3)])
        let error = #expect(throws: CocoaError.self) {
            try OpenStore(at: folder.url, model: Self.model(3), options: Self.options(manager))
        }
        #expect(error?.errorCode == NSStagedMigrationFrameworkVersionMismatchError)
    }

    // MARK: - References

    @Test func aReferenceOfAnotherChecksumIsNotFound() throws {
        let folder = try StoreFolder()
        try makeStore(folder.url)
        let wrong = NSManagedObjectModelReference(model: Self.model(4), versionChecksum: Self.checksum(2))
        let stage = NSCustomMigrationStage(migratingFrom: Self.reference(1), to: wrong)
        let manager = NSStagedMigrationManager([stage, Self.custom(2, 3)])
        let error = #expect(throws: CocoaError.self) {
            try OpenStore(at: folder.url, model: Self.model(3), options: Self.options(manager))
        }
        #expect(error?.errorCode == NSManagedObjectModelReferenceNotFoundError)
        #expect(try checksum(of: folder.url) == Self.checksum(1))
    }

    // MARK: - Handlers

    /// The stages that convert the texts to numbers, with the titles as intermediate storage.
    private static func conversion(_ failing: (@Sendable (String) throws -> Void)? = nil) -> [NSMigrationStage] {
        let (first, second) = (custom(1, 2), custom(2, 3))
        func notes(_ manager: NSStagedMigrationManager) throws -> (NSManagedObjectContext, [NSManagedObject]) {
            let context = try #require(manager.container).newBackgroundContext()
            return (context, try context.performAndWait { try context.fetch(NSFetchRequest(entityName: "Note")) })
        }
        first.willMigrateHandler = { manager, stage in
            #expect(manager.container?.managedObjectModel.versionChecksum == stage.currentModel.versionChecksum)
            let (context, notes) = try notes(manager)
            try context.performAndWait {
                for note in notes {
                    let (title, size) = (note.value(forKey: "title") as? String, note.value(forKey: "size") as? String)
                    note.setValue("\(title ?? "")/\(size ?? "")", forKey: "title")
                }
                try context.save()
                try failing?("first will")
            }
        }
        second.didMigrateHandler = { manager, stage in
            #expect(manager.container?.managedObjectModel.versionChecksum == stage.nextModel.versionChecksum)
            let (context, notes) = try notes(manager)
            try context.performAndWait {
                for note in notes {
                    let parts = (note.value(forKey: "title") as? String ?? "").split(separator: "/")
                    note.setValue(String(parts[0]), forKey: "title")
                    note.setValue(Int(parts[1]), forKey: "size")
                }
                try failing?("second did")
                try context.save()
                try failing?("second saved")
            }
        }
        return [first, second]
    }

    private func sizes(_ url: URL) throws -> [Int] {
        try MigrationComparison.withStore(url, Self.model(3)) { coordinator in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let context = MigrationComparison.context(coordinator)
            let notes = try context.fetch(request)
            defer { withExtendedLifetime(context) {} }
            #expect(notes.map { $0.value(forKey: "title") as? String } == ["note 0", "note 1", "note 2"])
            return notes.compactMap { $0.value(forKey: "size") as? Int }
        }
    }

    @Test func handlersConvertValues() throws {
        let folder = try StoreFolder()
        try makeStore(folder.url)
        let identifier = try SQLiteStore.metadataForPersistentStore(with: folder.url)[NSStoreUUIDKey] as? String
        do {
            let manager = NSStagedMigrationManager(Self.conversion())
            _ = try OpenStore(at: folder.url, model: Self.model(3), options: Self.options(manager))
        }
        #expect(try sizes(folder.url) == [1, 20, 300])
        #expect(try SQLiteStore.metadataForPersistentStore(with: folder.url)[NSStoreUUIDKey] as? String == identifier)
    }

    @Test(arguments: ["first will", "second did", "second saved"])
    func aHandlerThatThrowsLeavesTheStoreAtTheStageBefore(_ place: String) throws {
        let folder = try StoreFolder()
        try makeStore(folder.url)
        let manager = NSStagedMigrationManager(Self.conversion { if $0 == place { throw CocoaError(.userCancelled) } })
        let error = #expect(throws: CocoaError.self) {
            try OpenStore(at: folder.url, model: Self.model(3), options: Self.options(manager))
        }
        #expect(error?.code == .userCancelled)
        #expect(try checksum(of: folder.url) == Self.checksum(place == "first will" ? 1 : 2))
        let again = NSStagedMigrationManager(Self.conversion())
        do { _ = try OpenStore(at: folder.url, model: Self.model(3), options: Self.options(again)) }
        #expect(try sizes(folder.url) == [1, 20, 300])
    }

    /// The files are copied at many moments of a staged migration: each copy is what a killed process leaves.
    @Test func aKilledMigrationContinuesAtAStage() throws {
        let folder = try StoreFolder()
        try makeStore(folder.url)
        let moments = FolderMoments(of: folder.directory)
        let manager = NSStagedMigrationManager(Self.conversion { _ in try moments.take() })
        try StoreReplacement.$didTakeStep.withValue({ _ in try? moments.take() }) {
            _ = try OpenStore(at: folder.url, model: Self.model(3), options: Self.options(manager))
        }
        #expect(moments.folders.count > 10)
        for moment in moments.folders {
            let url = moment.appendingPathComponent(folder.url.lastPathComponent)
            let version = try (1...3).first { try Self.checksum($0) == checksum(of: url) }
            #expect(version != nil)
            do {
                let again = NSStagedMigrationManager(Self.conversion())
                _ = try OpenStore(at: url, model: Self.model(3), options: Self.options(again))
            }
            #expect(try sizes(url) == [1, 20, 300], "from version \(version ?? 0)")
        }
    }

    // MARK: - Chains

    @Test func lightweightStagesChainWithTheOption() throws {
        let folder = try StoreFolder()
        try makeStore(folder.url)
        let manager = NSStagedMigrationManager([Self.light(1, 2), Self.light(3, 4)])
        manager.lightweightModels = [Self.reference(2), Self.reference(3)]
        let options = Self.options(manager, [ChainedLightweightStagesOption: true])
        let open = try OpenStore(at: folder.url, model: Self.model(4), options: options)
        let context = MigrationComparison.context(open.coordinator)
        let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        #expect(notes.map { $0.value(forKey: "title") as? String != nil } == [true, true, true])
        #expect(notes.map { $0.value(forKey: "size") as? Int } == [nil, nil, nil])
        withExtendedLifetime(context) {}
    }
}
