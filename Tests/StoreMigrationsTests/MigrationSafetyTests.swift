import CoreDataErrors
import Foundation
import GRDB
import Synchronization
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// Copies of a folder at several moments: the files that a process which is killed at that moment leaves.
final class FolderMoments: Sendable {
    private let folder: URL
    private let copies: URL
    private let taken = Mutex<[URL]>([])

    init(of folder: URL) {
        self.folder = folder
        copies = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    }

    deinit { try? FileManager.default.removeItem(at: copies) }

    var folders: [URL] { taken.withLock { $0 } }

    func take() throws {
        try taken.withLock { taken in
            try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
            let copy = copies.appendingPathComponent("\(taken.count)")
            try FileManager.default.copyItem(at: folder, to: copy)
            // Another process creates the shared memory of the log again.
            for name in try FileManager.default.contentsOfDirectory(atPath: copy.path) where name.hasSuffix("-shm") {
                try FileManager.default.removeItem(at: copy.appendingPathComponent(name))
            }
            taken.append(copy)
        }
    }
}

/// A migration in place is completed or has no effect.
@Suite struct MigrationSafetyTests {
    /// Notes with an added attribute and without another one, an entity that sorts first, a relationship that becomes to-many,
    /// and a derived attribute. All entities get other numbers.
    private static func newModel() -> NSManagedObjectModel {
        let model = NotesModel.make()
        model.entities += [NotesModel.entity("Aaa", [])]
        let note = model.entitiesByName["Note"]
        note?.properties.removeAll { $0.name == "rank" }
        note?.properties += [NotesModel.attribute("weight", .integer64AttributeType, optional: false, default: 7)]
        note?.relationshipsByName["cover"]?.maxCount = 0
        let count = NSDerivedAttributeDescription()
        count.name = "itemCount"
        count.attributeType = .integer64AttributeType
        count.isOptional = true
        count.derivationExpression = NSExpression(format: "items.@count")
        note?.properties += [count]
        return model
    }

    private static func options(_ journal: String, _ others: [String: Any] = [:]) -> [AnyHashable: Any] {
        [
            NSSQLitePragmasOption: ["journal_mode": journal].merging(others) { $1 },
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
    }

    private func fill(_ url: URL, journal: String = "DELETE", count: Int = 1) throws {
        let open = try OpenStore(at: url, model: NotesModel.make(), options: Self.options(journal))
        for seed in 0..<UInt64(count) {
            var filling = RandomFilling(seed: seed)
            try filling.fill(MigrationComparison.context(open.coordinator), open.coordinator.managedObjectModel)
        }
    }

    private func migration(
        _ url: URL, journal: String = "DELETE", pragmas: [String: Any] = [:],
        willExecute: ((String) throws -> Void)? = nil
    ) -> InPlaceMigration {
        InPlaceMigration(
            url: url, configuration: nil, options: Self.options(journal, pragmas),
            models: [NotesModel.make(), Self.newModel()], willExecute: willExecute)
    }

    // MARK: - Killed

    /// A cache of one page, so that SQLite writes to the files during the transaction.
    @Test(arguments: ["DELETE", "WAL"]) func aKilledMigrationLeavesTheOldStoreOrTheNewOne(_ journal: String) throws {
        let folder = try StoreFolder()
        try fill(folder.url, journal: journal, count: 20)
        let old = try MigrationComparison.lines(folder.url, NotesModel.make())
        let moments = FolderMoments(of: folder.directory)
        let third = Self.newModel()
        third.entitiesByName["Folder"]?.renamingIdentifier = "Folder"
        third.entitiesByName["Folder"]?.name = "Zone"
        third.entitiesByName["Item"]?.properties.removeAll { $0.name == "index" }
        try InPlaceMigration(
            url: folder.url, configuration: nil, options: Self.options(journal, ["cache_size": 1]),
            models: [NotesModel.make(), Self.newModel(), third], willExecute: { _ in try moments.take() }
        ).run()
        try moments.take()
        let new = try MigrationComparison.lines(folder.url, MigrationComparison.copy(third))
        #expect(moments.folders.count > 50)
        var isOld = 0
        for moment in moments.folders {
            let url = moment.appendingPathComponent(folder.url.lastPathComponent)
            let metadata = try SQLiteStore.metadataForPersistentStore(with: url)
            if NotesModel.make().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) {
                isOld += 1
                let lines = try MigrationComparison.lines(url, NotesModel.make())
                #expect(lines == old)
            } else {
                #expect(try MigrationComparison.lines(url, MigrationComparison.copy(third)) == new)
            }
            #expect(
                try DatabaseQueue(path: url.path).read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
                    == "ok")
        }
        #expect(isOld == moments.folders.count - 1)
    }

    // MARK: - Refused

    private func expectUnchanged(
        _ url: URL, code: Int, _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try Data(contentsOf: url)
        let error = #expect(throws: CocoaError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.errorCode == code, sourceLocation: sourceLocation)
        #expect(try Data(contentsOf: url) == before, sourceLocation: sourceLocation)
        #expect(!FileManager.default.fileExists(atPath: url.path + "-journal"), sourceLocation: sourceLocation)
    }

    @Test func aFullDiskLeavesTheStoreUnchanged() throws {
        let folder = try StoreFolder()
        try fill(folder.url, count: 20)
        let pages = try DatabaseQueue(path: folder.url.path).read {
            try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0
        }
        let new = Self.newModel()
        new.entitiesByName["Note"]?.properties += [
            NotesModel.attribute("filler", .stringAttributeType, default: String(repeating: "x", count: 9000))
        ]
        try expectUnchanged(folder.url, code: NSMigrationError) {
            try InPlaceMigration(
                url: folder.url, configuration: nil, options: Self.options("DELETE", ["max_page_count": pages + 2]),
                models: [NotesModel.make(), new]
            ).run()
        }
    }

    @Test func aCancelledTaskLeavesTheStoreUnchanged() async throws {
        let folder = try StoreFolder()
        try fill(folder.url, count: 200)
        let url = folder.url
        let task = Task {
            try expectUnchanged(url, code: NSMigrationCancelledError) {
                try migration(url) { _ in withUnsafeCurrentTask { $0?.cancel() } }.run()
            }
        }
        try await task.value
    }

    @Test func aStatementIsInterruptedWhileItRuns() throws {
        let folder = try StoreFolder()
        try fill(folder.url)
        try DatabaseQueue(path: folder.url.path).write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE numbers(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbers WHERE n < 50000)
                    INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT) SELECT n, (SELECT min(Z_ENT) FROM ZNOTE), 1 FROM numbers
                    """)
        }
        // For each statement, the first call precedes its execution; later calls happen while it runs.
        var calls = 0
        var migration = migration(folder.url) { _ in calls = 0 }
        migration.isCancelled = {
            calls += 1
            return calls > 1
        }
        try expectUnchanged(folder.url, code: NSMigrationCancelledError) { try migration.run() }
        #expect(calls > 1)
    }

    @Test func completedStatementsAreCounted() throws {
        let folder = try StoreFolder()
        try fill(folder.url)
        var migration = migration(folder.url)
        var fractions: [Double] = []
        migration.didComplete = { fractions.append($0) }
        try migration.run()
        #expect(fractions.count > 10 && fractions == fractions.sorted() && fractions.last == 1)
    }

    @Test func whatOtherProgramsHaveAddedIsKept() throws {
        let folder = try StoreFolder()
        try fill(folder.url)
        try DatabaseQueue(path: folder.url.path).write { database in
            try database.execute(
                sql: """
                    CREATE VIRTUAL TABLE Zsearch USING fts5(text);
                    INSERT INTO Zsearch VALUES ('kept');
                    CREATE INDEX "Z-index; DROP TABLE Zsearch" ON ZTAG (ZNAME);
                    CREATE TABLE "Z__REMOVED0; DROP TABLE Zsearch" (text);
                    CREATE TRIGGER Zwatch AFTER INSERT ON ZTAG BEGIN DELETE FROM Zsearch; END;
                    """)
        }
        try migration(folder.url).run()
        try DatabaseQueue(path: folder.url.path).read { database in
            #expect(try String.fetchAll(database, sql: "SELECT text FROM Zsearch") == ["kept"])
            let names = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE name GLOB 'Z__REMOVED*' OR name = 'Zwatch' ORDER BY name")
            #expect(names == ["Z__REMOVED0; DROP TABLE Zsearch", "Zwatch"])
        }
    }

    @Test func anErrorOfTheCallerLeavesTheStoreUnchanged() throws {
        let folder = try StoreFolder()
        try fill(folder.url)
        var count = 0
        try migration(folder.url) { _ in count += 1 }.run()
        for place in stride(from: 1, through: count, by: 7) {
            let folder = try StoreFolder()
            try fill(folder.url)
            var executed = 0
            try expectUnchanged(folder.url, code: CocoaError.Code.userCancelled.rawValue) {
                try migration(folder.url) { _ in
                    executed += 1
                    if executed == place { throw CocoaError(.userCancelled) }
                }.run()
            }
        }
    }

    @Test func aReadOnlyStoreIsRefused() throws {
        let folder = try StoreFolder()
        try fill(folder.url)
        try expectUnchanged(folder.url, code: 134100) {
            _ = try OpenStore(
                at: folder.url, model: Self.newModel(),
                options: Self.options("DELETE").merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
        }
    }

    @Test func aStoreThatAnotherVersionHasReplacedMeanwhileIsRefused() throws {
        let folder = try StoreFolder()
        try fill(folder.url)
        try migration(folder.url).run()
        let third = Self.newModel()
        third.entities += [NotesModel.entity("Bbb", [])]
        try expectUnchanged(folder.url, code: 134100) {
            try InPlaceMigration(
                url: folder.url, configuration: nil, options: Self.options("DELETE"),
                models: [NotesModel.make(), third]
            ).run()
        }
    }

    // MARK: - Logs

    /// The last transactions of a store that is copied while it is open are in its log.
    @Test func transactionsInTheLogAreMigrated() throws {
        let (folder, copy) = (try StoreFolder(), try StoreFolder())
        let open = try OpenStore(at: folder.url, model: NotesModel.make(), options: Self.options("WAL"))
        var filling = RandomFilling(seed: 1)
        try filling.fill(MigrationComparison.context(open.coordinator), open.coordinator.managedObjectModel)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.url.path + suffix, toPath: copy.url.path + suffix)
        }
        let context = MigrationComparison.context(open.coordinator)
        let count = try NotesModel.make().entities.filter { $0.superentity == nil }.reduce(0) { sum, entity in
            try sum + context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity.name ?? ""))
        }
        try migration(copy.url, journal: "WAL").run()
        #expect(try MigrationComparison.lines(copy.url, Self.newModel()).count == count)
        #expect(count > 10)
    }

    /// Several versions in one transaction.
    @Test func aChainIsOneTransaction() throws {
        let folder = try StoreFolder()
        try fill(folder.url)
        let third = Self.newModel()
        third.entitiesByName["Tag"]?.properties += [
            NotesModel.attribute("label", .stringAttributeType, default: "same")
        ]
        third.entitiesByName["Tag"]?.uniquenessConstraints = [["label"]]
        try expectUnchanged(folder.url, code: NSMigrationConstraintViolationError) {
            try InPlaceMigration(
                url: folder.url, configuration: nil, options: Self.options("DELETE"),
                models: [NotesModel.make(), Self.newModel(), third]
            ).run()
        }
        let fourth = Self.newModel()
        fourth.entitiesByName["Tag"]?.properties += [NotesModel.attribute("colour", .stringAttributeType)]
        try InPlaceMigration(
            url: folder.url, configuration: nil, options: Self.options("DELETE"),
            models: [NotesModel.make(), Self.newModel(), fourth]
        ).run()
        #expect(try MigrationComparison.lines(folder.url, fourth).count > 10)
    }

    // MARK: - Configurations

    /// Two stores of one coordinator, each with the entities of its configuration.
    @Test func storesOfConfigurationsAreMigrated() throws {
        func model(_ version: Int) -> NSManagedObjectModel {
            let model = NSManagedObjectModel()
            let names = version == 1 ? ["Alpha", "Beta", "Gamma"] : ["Aaa", "Alpha", "Beta", "Gamma"]
            model.entities = names.map { name in
                NotesModel.entity(
                    name,
                    [NotesModel.attribute("name", .stringAttributeType)]
                        + (version == 2 ? [NotesModel.attribute("rank", .integer64AttributeType)] : []))
            }
            model.setEntities(model.entities.filter { $0.name != "Beta" }, forConfigurationName: "Other")
            model.setEntities(model.entities.filter { $0.name == "Beta" }, forConfigurationName: "Second")
            return model
        }
        let folder = try StoreFolder()
        let urls = ["Other", "Second"].map { folder.directory.appendingPathComponent($0 + ".sqlite") }
        func open(_ version: Int) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(version))
            for (url, name) in zip(urls, ["Other", "Second"]) {
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: name, at: url, options: Self.options("DELETE"))
            }
            return coordinator
        }
        do {
            let coordinator = try open(1)
            let context = MigrationComparison.context(coordinator)
            for name in ["Alpha", "Beta", "Gamma"] {
                NSEntityDescription.insertNewObject(forEntityName: name, into: context).setValue(name, forKey: "name")
            }
            try context.save()
        }
        let coordinator = try open(2)
        let context = MigrationComparison.context(coordinator)
        for name in ["Alpha", "Beta", "Gamma"] {
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
            #expect(found.map { $0.value(forKey: "name") as? String } == [name])
        }
        withExtendedLifetime(coordinator) {}
    }

    // MARK: - Deferred

    @Test func cleanUpCanBeDeferred() throws {
        let (folder, fresh) = (try StoreFolder(), try StoreFolder())
        try fill(folder.url)
        let new = Self.newModel()
        new.entities = new.entities.filter { $0.name != "Tag" }
        new.entitiesByName["Item"]?.properties.removeAll { $0.name == "tags" }
        do { _ = try OpenStore(at: fresh.url, model: new, options: Self.options("DELETE")) }
        let options = Self.options("DELETE").merging([
            NSPersistentStoreDeferredLightweightMigrationOptionKey: true
        ]) { $1 }
        func schema() throws -> [String] { try MigrationComparison.schema(folder.url) }
        let expected = try MigrationComparison.schema(fresh.url)
        var lines: [String] = []
        do {
            let open = try OpenStore(at: folder.url, model: new, options: options)
            #expect(open.store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? Bool == true)
            lines = try MigrationComparison.lines(folder.url, new)
            #expect(try schema() != expected)
            #expect(expected.allSatisfy { !$0.hasPrefix("index") } == false)
            var tasks = 0
            while open.store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil {
                try open.coordinator.finishDeferredLightweightMigrationTask()
                tasks += 1
                #expect(try MigrationComparison.lines(folder.url, new) == lines)
            }
            #expect(tasks > 2)
            try open.coordinator.finishDeferredLightweightMigration()
        }
        #expect(try schema() == expected)
        #expect(
            try SQLiteStore.metadataForPersistentStore(with: folder.url)[
                NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
        #expect(!lines.isEmpty)
    }

    @Test func theNextMigrationFinishesADeferredOne() throws {
        let (folder, fresh) = (try StoreFolder(), try StoreFolder())
        try fill(folder.url)
        let second = Self.newModel()
        let third = Self.newModel()
        third.entitiesByName["Note"]?.properties.removeAll { $0.name == "price" }
        do { _ = try OpenStore(at: fresh.url, model: third, options: Self.options("DELETE")) }
        let options = Self.options("DELETE").merging([
            NSPersistentStoreDeferredLightweightMigrationOptionKey: true
        ]) { $1 }
        do { _ = try OpenStore(at: folder.url, model: second, options: options) }
        do { _ = try OpenStore(at: folder.url, model: third, options: Self.options("DELETE")) }
        #expect(try MigrationComparison.schema(folder.url) == MigrationComparison.schema(fresh.url))
    }
}
