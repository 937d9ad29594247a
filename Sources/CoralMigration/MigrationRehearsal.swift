import Coral
import CoreData

/// Runs a migration on a copy of a store, and examines the rows beforehand. The store is not changed.
///
///     let rehearsal = MigrationRehearsal(try ProgressiveMigration(toModelAt: modelURL))
///     let result = try rehearsal.run(onStoreAt: storeURL)
///     for finding in result.findings { print(finding.count, finding.entity, finding.message) }
///
/// Rows are examined before steps that are inferred, repaired or impossible, if the step may concern them. Steps with a mapping model
/// are run without this examination, because the effect of a mapping model on rows cannot be derived from the two models.
public struct MigrationRehearsal: Sendable {
    /// The migration.
    public let migration: ProgressiveMigration
    /// The number of URIs that a finding contains.
    package var exampleLimit = 20

    /// A rehearsal of a migration.
    public init(_ migration: ProgressiveMigration) { self.migration = migration }

    /// The result of a rehearsal.
    public struct Result: Sendable {
        /// The steps. An impossible one is the last.
        public var steps: [MigrationStep]
        /// The findings in the rows, step by step; those that stop the migration come first.
        public var findings: [MigrationFinding]
        /// Why the migration fails; nil if it succeeds.
        public var failure: String?
        /// The time that the migration of a copy took, in seconds. Inferred steps are one transaction, as in
        /// ``ProgressiveMigration/migrateStore(at:to:progress:)``.
        public var duration: TimeInterval
        /// The number of objects after the steps that succeeded.
        public var objectCount: Int

        /// Whether the migration would succeed.
        public var isPossible: Bool { failure == nil }
    }

    /// Runs the steps on a copy in the temporary folder, up to the first that fails. The copy of a store in PostgreSQL is in
    /// another schema of the same database (`coral_copy_…`), which is removed.
    ///
    /// Inferred steps run together up to the next one whose rows have to be examined. If that has divided the migration, it is run
    /// once more on another copy, undivided, which gives the time.
    ///
    /// Progress counts thousandths of steps. Cost: the disk space of two copies of the store; each object of an entity that loses
    /// values, or whose values may not fit, is loaded once for each such step.
    ///
    /// - Throws: ``MigrationError`` if the store's version is not known or a repair does not fit, Core Data's errors if the
    ///   store cannot be read, and `CocoaError.userCancelled`.
    public func run(onStoreAt url: URL, progress: Progress? = nil) throws -> Result {
        for repair in migration.repairs { try repair.requireProperties(in: migration.versions.map(\.model)) }
        var result = Result(
            steps: try migration.steps(forStoreAt: url), findings: [], failure: nil, duration: 0, objectCount: 0)
        guard !result.steps.isEmpty else { return result }
        if result.steps.allSatisfy(\.obstacles.isEmpty),
            let refusal = migration.refusal(of: result.steps, ofStoreAt: url)
        {
            result.failure = refusal.message
            return result
        }
        let scratch = ScratchStores(forCopiesOf: url)
        defer { scratch.remove() }
        func copy() throws -> URL {
            let copy = try scratch.next()
            try StoreCreation.copyStore(at: url, to: copy, model: result.steps[0].source.model)
            return copy
        }
        let parts = try parts(of: result.steps)
        let isDivided = parts.count > 1 && migration.isLightweight(result.steps)
        let execution = StepExecution(migration: migration, scratch: scratch, progress: progress)
        progress?.begin(result.steps.count * (isDivided ? 2000 : 1000))
        // What a part of the steps gives; nil if it fails.
        func attempt<Outcome>(_ steps: [MigrationStep], _ work: () throws -> Outcome) throws -> Outcome? {
            do {
                return try work()
            } catch let error as CocoaError where error.code == .userCancelled {
                throw error
            } catch {
                result.failure =
                    "The step from \"\(steps[0].source.name)\" to \"\(steps[steps.count - 1].destination.name)\" fails. "
                    + (error as NSError).localizedDescription
                return nil
            }
        }
        var current = try copy()
        for part in parts {
            let merged = try attempt(part.steps) {
                try execution.deduplicate(current, before: part.steps[0], limit: exampleLimit)
            }
            guard let merged else { return result }
            let findings = try part.rows.findings(inStoreAt: current, limit: exampleLimit, progress)
            result.findings += findings + merged
            result.failure = failure(of: part.steps[0], findings)
            if result.failure != nil { return result }
            let start = Date()
            guard let next = try attempt(part.steps, { try execution.run(part.steps, at: current, to: scratch.next()) })
            else { return result }
            current = next
            result.duration += Date().timeIntervalSince(start)
        }
        if isDivided {
            let whole = try copy()
            let start = Date()
            guard try attempt(result.steps, { try execution.run(result.steps, at: whole, to: scratch.next()) }) != nil
            else { return result }
            result.duration = Date().timeIntervalSince(start)
        }
        result.objectCount = try Self.objectCount(ofStoreAt: current, migration.destination.model)
        return result
    }

    /// Steps that run together, and the rows that are examined before the first of them.
    private struct Part {
        var rows: RowRehearsal
        var steps: [MigrationStep]
    }

    private func parts(of steps: [MigrationStep]) throws -> [Part] {
        var parts: [Part] = []
        for step in steps {
            let rows = try RowRehearsal(of: step, repairs: migration.repairs)
            if !rows.isNeeded, let last = parts.last, migration.isLightweight(last.steps + [step]) {
                parts[parts.count - 1].steps.append(step)
            } else {
                parts.append(Part(rows: rows, steps: [step]))
            }
        }
        return parts
    }

    private func failure(of step: MigrationStep, _ findings: [MigrationFinding]) -> String? {
        if !step.obstacles.isEmpty { return step.error.message }
        guard findings.contains(where: \.isBreaking) else { return nil }
        return
            "The step from \"\(step.source.name)\" to \"\(step.destination.name)\" fails because of the rows that were found."
    }

    private static func objectCount(ofStoreAt url: URL, _ model: NSManagedObjectModel) throws -> Int {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        let store = try coordinator.addPersistentStore(
            ofType: url.storeType, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: true]
        )
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            try model.entities.filter { $0.superentity == nil }.reduce(0) {
                try $0 + context.count(for: NSFetchRequest<NSFetchRequestResult>(entityName: $1.name ?? ""))
            }
        }
    }
}

/// The locations of the stores between the steps of a migration: files in a folder, or, for a store in PostgreSQL, other
/// schemas of its database.
package final class ScratchStores {
    private enum Parent {
        case folder(URL, name: String)
        case server(URL)
    }

    private let parent: Parent
    private var count = 0
    private var schemas: [URL] = []

    /// Locations for files with a name in folders of a folder.
    package init(in folder: URL, named name: String) { parent = .folder(folder, name: name) }

    /// Locations for copies of a store, in a new temporary folder if it is in a file.
    package init(forCopiesOf url: URL) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coral-copies-\(UUID().uuidString)")
        parent = url.isOfServer ? .server(url) : .folder(folder, name: url.lastPathComponent)
    }

    /// The next location, at which there is no store.
    package func next() throws -> URL {
        count += 1
        switch parent {
        case .folder(let folder, let name):
            let folder = folder.appendingPathComponent("step\(count)", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder.appendingPathComponent(name)
        case .server(let url):
            let url = url.withSchema("coral_copy_" + UUID().uuidString.prefix(8).lowercased())
            schemas.append(url)
            return url
        }
    }

    /// Removes all stores.
    package func remove() {
        if case .folder(let folder, _) = parent { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        for url in schemas { try? coordinator.destroyPersistentStore(at: url, ofType: url.storeType, options: nil) }
    }
}
