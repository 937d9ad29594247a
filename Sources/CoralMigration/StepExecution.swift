import Coral
import CoreData

/// Runs the steps of a migration on a copy of a store.
package struct StepExecution {
    package let migration: ProgressiveMigration
    /// The locations of the stores between the steps.
    package let scratch: ScratchStores
    package let progress: Progress?

    /// Migrates a copy; the result is a store at another location.
    package func run(_ steps: [MigrationStep], from copy: URL, to destination: URL) throws {
        progress?.begin(steps.count * 1000)
        var current = copy
        for (index, step) in steps.enumerated() {
            let next = index == steps.count - 1 ? destination : try scratch.next()
            current = try run(step, at: current, to: next)
            progress?.completedUnitCount = Int64(index + 1) * 1000
        }
        guard current != destination else { return }
        try StoreCreation.copyStore(at: current, to: destination, model: migration.destination.model)
    }

    /// Runs steps that are possible together in place, or one step of any kind. The progress counts a thousand units for each.
    ///
    /// - Returns: The location of the result.
    func run(_ steps: [MigrationStep], at current: URL, to next: URL) throws -> URL {
        let count = (progress?.completedUnitCount ?? 0) + Int64(steps.count * 1000)
        defer { progress?.completedUnitCount = count }
        guard steps.count > 1 else { return try run(steps[0], at: current, to: next) }
        if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
        _ = try Engine.current.migrate(storeAt: current, through: steps.models, progress: progress)
        return current
    }

    /// Runs one step, in place where Core Data supports this.
    ///
    /// - Returns: The location of the result.
    package func run(_ step: MigrationStep, at current: URL, to next: URL) throws -> URL {
        if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
        try deduplicate(current, before: step)
        let mapping: NSMappingModel
        switch step.kind {
        case .inferred:
            if try Engine.current.migrate(storeAt: current, through: [step].models, progress: progress) {
                return current
            }
            mapping = try NSMappingModel.inferredMappingModel(
                forSourceModel: step.source.model, destinationModel: step.destination.model)
        case .mapping(let given): mapping = given.model
        case .repaired: mapping = try repairedMapping(of: step).mappingModel()
        case .impossible: throw step.error
        }
        try migrate(current, to: next, step, mapping)
        return next
    }

    package func repairedMapping(of step: MigrationStep) -> RepairedMapping {
        RepairedMapping(
            source: step.source.model, destination: step.destination.model, repairs: migration.repairs)
    }

    // MARK: - Migration

    private func migrate(_ source: URL, to destination: URL, _ step: MigrationStep, _ mapping: NSMappingModel) throws {
        let manager = NSMigrationManager(sourceModel: step.source.model, destinationModel: step.destination.model)
        manager.usesStoreSpecificMigrationManager = false
        Engine.current.keepHistory(manager)
        let options = Engine.current.options(keepingJournalOf: source)
        let watch = progress.map { MigrationWatch(manager, progress: $0) }
        defer { watch?.stop() }
        try manager.migrateStore(
            from: source, sourceType: source.storeType, options: options, with: mapping, toDestinationURL: destination,
            destinationType: destination.storeType, destinationOptions: options)
        try keepIdentifier(of: source, in: destination)
    }

    /// The store keeps its UUID, so that URIs and references refer to it.
    private func keepIdentifier(of source: URL, in destination: URL) throws {
        func metadata(_ url: URL) throws -> [String: Any] {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: url.storeType, at: url, options: nil)
        }
        var changed = try metadata(destination)
        changed[NSStoreUUIDKey] = try metadata(source)[NSStoreUUIDKey]
        try NSPersistentStoreCoordinator.setMetadata(
            changed, forPersistentStoreOfType: destination.storeType, at: destination, options: nil)
    }

    // MARK: - Duplicates

    /// Merges the duplicates of the repairs whose properties both versions of a step have. A repair that was made before an
    /// earlier step is run again before the next one, and then finds no duplicates.
    ///
    /// - Parameter limit: The number of URIs that a finding contains.
    /// - Returns: The objects that were merged into others.
    @discardableResult
    package func deduplicate(_ url: URL, before step: MigrationStep, limit: Int = 0) throws -> [MigrationFinding] {
        let correspondence = ModelCorrespondence(from: step.source.model, to: step.destination.model)
        // An entity has one key in each round.
        var rounds: [[String: [String]]] = []
        for repair in migration.repairs {
            guard case .deduplicate(let names) = repair.rule,
                let after = step.destination.model.entitiesByName[repair.entity],
                let before = correspondence.source(of: after), let entity = before.name
            else { continue }
            let found = correspondence.properties(from: before, to: after)
            let sources = names.compactMap { found[$0] }
            guard sources.count == names.count else { continue }
            let round = rounds.firstIndex { $0[entity] == nil } ?? rounds.count
            if round == rounds.count { rounds.append([:]) }
            rounds[round][entity] = sources
        }
        guard !rounds.isEmpty else { return [] }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: step.source.model.keepingStoredArchives())
        let store = try coordinator.addPersistentStore(
            ofType: url.storeType, configurationName: nil, at: url,
            options: Engine.current.options(keepingJournalOf: url))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        var merged = RehearsalRows(limit: limit)
        try context.performAndWait {
            for keys in rounds {
                var identity = ObjectIdentity(keys: keys, usesUniquenessConstraints: false)
                identity.usesDeclaredKeys = false
                var deduplicator = Deduplicator(context, identity: identity)
                deduplicator.entities = keys.keys.sorted()
                let plan = try deduplicator.plan()
                for group in plan.groups {
                    let check = RowRehearsalCheck(
                        .mergedObject, group.entity, keys[group.entity]?.joined(separator: ","), isBreaking: false,
                        "Objects with equal values are merged into the first of them."
                    ) { _ in [] }
                    merged.add(check, group.duplicates.map(\.objectID))
                }
                try plan.apply()
                if context.hasChanges { try context.save() }
                context.reset()
            }
        }
        try coordinator.remove(store)
        return merged.findings(step: "\(step.source.name) -> \(step.destination.name)")
    }
}

/// Copies the progress of a migration manager, and cancels it.
private final class MigrationWatch {
    private let timer: any DispatchSourceTimer
    private let queue = DispatchQueue(label: "coral.migration.progress")

    init(_ manager: NSMigrationManager, progress: Progress) {
        timer = DispatchSource.makeTimerSource(queue: queue)
        // Unsafe, because the methods that are used here may be called from any thread.
        nonisolated(unsafe) let manager = manager
        let done = progress.completedUnitCount
        timer.setEventHandler {
            if progress.isCancelled { manager.cancelMigrationWithError(CocoaError(.userCancelled)) }
            progress.completedUnitCount = done + Int64(manager.migrationProgress * 999)
        }
        timer.schedule(deadline: .now() + 0.1, repeating: 0.1)
        timer.resume()
    }

    func stop() {
        timer.cancel()
        // Waits for a call in progress.
        queue.sync {}
    }
}
