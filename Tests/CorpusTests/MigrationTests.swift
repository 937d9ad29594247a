import Coral
import CoralMigration
import CoralTools
import CoralTesting
import GRDB
import Testing

#if !canImport(Darwin)

    /// The versions of real models: each step is inferred or refused, and migrated stores equal those that an oracle computes.
    @Suite(
        .enabled(if: Engine.hasRows), .enabled(if: !VersionPair.all.isEmpty, "The files of the corpus are not here."))
    struct MigrationTests {
        @Test func `steps are refused for the expected reason, and all others are inferred`() throws {
            var refused: [String: [String]] = [:]
            for pair in VersionPair.all {
                let steps = try ProgressiveMigration(to: pair.new).steps(from: pair.old)
                #expect(steps.count <= 1)
                let obstacles = steps.flatMap(\.obstacles)
                if !obstacles.isEmpty { refused[pair.description] = obstacles.map(\.description) }
            }
            #expect(refused == VersionPair.refused)
        }

        @Test(arguments: VersionPair.inferred, [0, 40])
        func `migrated stores are those of the oracle, and have the schema of new ones`(
            _ pair: VersionPair, objects: Int
        ) throws {
            let folder = try StoreFolder()
            let url = folder.file("Store.sqlite")
            try pair.fill(url, objects: objects, seed: 11)
            let before = try MigrationOracle.records(url, pair.old.model)
            let steps = try ProgressiveMigration(to: pair.new).migrateStore(at: url)
            let oracle = MigrationOracle(old: pair.old.model, new: pair.new.model)
            let (found, expected) = (try oracle.found(url), oracle.expected(before))
            #expect(found.count == expected.count)
            for (id, row) in expected { #expect(found[id] == row, "\(id)") }
            if objects > 0 { #expect(!expected.isEmpty || before.isEmpty) }
            try expectSameGraph(url, oracle, before, in: folder)
            guard !steps.isEmpty else { return }
            let fresh = folder.file("Fresh.sqlite")
            try StoreCreation.createStore(at: fresh, model: pair.new.model)
            #expect(try StoreSchema(url) == StoreSchema(fresh))
            #expect(
                try StoreCheck(url: url, model: pair.new.model).problems().filter { $0.code != .forbiddenValue } == [])
        }

        /// Compares a migrated store with one that was made of the changed document, object by object.
        private func expectSameGraph(
            _ migrated: URL, _ oracle: MigrationOracle, _ before: [GraphRecord], in folder: StoreFolder
        ) throws {
            let identifier = try StoreInspection(url: migrated).metadata[NSStoreUUIDKey] as? String
            let imported = folder.file("Imported.sqlite")
            let document = try oracle.changedDocument(before, storeUUID: identifier)
            let plan = try StoreRestorer(model: oracle.new).restore(.data(document), to: imported)
            #expect(plan.errors.isEmpty && plan.conflicts.isEmpty)
            let (first, second) = (try coordinator(migrated, oracle.new), try coordinator(imported, oracle.new))
            let delta = try GraphComparison(oracle.new.keepingStoredArchives())
                .delta(from: .stores(first), to: .stores(second))
            #expect(delta.isEmpty, "\(delta.changes.prefix(3))")
            let (one, two) = (context(of: first), context(of: second))
            let isomorphism = GraphIsomorphism(try objects(one, oracle.new), try objects(two, oracle.new))
            #expect(isomorphism.differences == [])
            withExtendedLifetime((one, two)) {}
        }

        private func coordinator(_ url: URL, _ model: NSManagedObjectModel) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSReadOnlyPersistentStoreOption: true])
            return coordinator
        }

        private func context(of coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        private func objects(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws
            -> [NSManagedObject]
        {
            try model.entities.filter { $0.superentity == nil }.flatMap {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: $0.name ?? ""))
            }
        }

        @Test(arguments: VersionPair.inferred)
        func `a rehearsal of random rows agrees with the migration`(_ pair: VersionPair) throws {
            let folder = try StoreFolder()
            let url = folder.file("Store.sqlite")
            try pair.fill(url, objects: 40, seed: 5)
            let result = try MigrationRehearsal(ProgressiveMigration(to: pair.new)).run(onStoreAt: url)
            do {
                try ProgressiveMigration(to: pair.new).migrateStore(at: url)
                #expect(result.isPossible, "\(result.failure ?? "")")
            } catch {
                #expect(!result.isPossible)
            }
        }
    }

    /// A folder that is removed at the end.
    final class StoreFolder {
        let url: URL

        init() throws {
            url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        func file(_ name: String) -> URL { url.appendingPathComponent(name) }

        deinit { try? FileManager.default.removeItem(at: url) }
    }

    /// Two consecutive versions of a model of the corpus.
    struct VersionPair: Sendable, CustomTestStringConvertible, CustomStringConvertible {
        let old: ModelVersion
        let new: ModelVersion

        var description: String { "\(old.name) -> \(new.name)" }
        var testDescription: String { description }

        static let all: [VersionPair] = bundles.flatMap { url -> [VersionPair] in
            let versions = (try? ModelVersion.versions(at: url)) ?? []
            return zip(versions, versions.dropFirst()).map { VersionPair(old: $0, new: $1) }
        }

        private static let bundles: [URL] = {
            let all = FileManager.default.enumerator(at: Corpus.root, includingPropertiesForKeys: nil)
            var found: [URL] = []
            while let url = all?.nextObject() as? URL { if url.pathExtension == "xcdatamodeld" { found.append(url) } }
            return found.sorted { $0.path < $1.path }
        }()

        static let inferred = all.filter { refused[$0.description] == nil }

        /// The steps that cannot be inferred, and the reasons.
        static let refused: [String: [String]] = [:]

        /// Creates a store of the older version with random objects.
        func fill(_ url: URL, objects: Int, seed: UInt64) throws {
            try StoreCreation.createStore(at: url, model: old.model)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old.model.keepingStoredArchives())
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                var generator = GraphGenerator(seed: seed)
                _ = try generator.objects(objects, in: context)
                try context.save()
            }
            try coordinator.remove(store)
        }
    }

    /// The tables of a store with their columns, its indexes and triggers, and the numbers of its entities.
    struct StoreSchema: Equatable {
        private var tables: [String: Set<String>] = [:]
        private var others: Set<String> = []
        private var entities: [String: [Int]] = [:]

        init(_ url: URL) throws {
            var configuration = Configuration()
            configuration.readonly = true
            let queue = try DatabaseQueue(path: url.path, configuration: configuration)
            try queue.read { database in
                let rows = try Row.fetchAll(database, sql: "SELECT type, name FROM sqlite_master")
                for row in rows {
                    let (type, name): (String, String) = (row[0], row[1])
                    guard type == "table" else {
                        others.insert("\(type) \(name)")
                        continue
                    }
                    let columns = try Row.fetchAll(
                        database, sql: "SELECT name, type FROM pragma_table_info(?)", arguments: [name])
                    tables[name] = Set(columns.map { "\($0[0] as String) \($0[1] as String)" })
                }
                for row in try Row.fetchAll(database, sql: "SELECT Z_NAME, Z_ENT, Z_SUPER FROM Z_PRIMARYKEY") {
                    entities[row[0]] = [row[1], row[2]]
                }
            }
        }
    }

#endif
