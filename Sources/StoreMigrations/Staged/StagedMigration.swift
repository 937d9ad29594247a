import CoreDataErrors
import Foundation
import ManagedObjects

/// A staged migration of one store.
///
/// Each custom stage is executed completely or not at all: with handlers, an SQLite store is copied, and the copy
/// replaces it when both handlers have returned. So a process that is killed, or a handler that throws, leaves the
/// store at a version of the stages, and the next attempt continues there. Cost of a custom stage with handlers: a copy
/// of the file; large values are linked.
struct StagedMigration {
    let manager: NSStagedMigrationManager
    let migration: StoreMigration

    /// - Throws: Code 134504 if a model is in no stage or cannot be found, 134505 if the store does not have a checksum,
    ///   134506 if the store has a later version, 134140 if a step cannot be inferred, the error of a handler, and errors of the
    ///   migration. The store then has one of the versions of the stages.
    func run() throws {
        try requireDistinct()
        let last = migration.coordinator.managedObjectModel
        let start = try position(of: storeChecksum(), "store's")
        let end = try position(of: last.versionChecksum, "coordinator's")
        guard (start.stage, start.version) <= (end.stage, end.version) else {
            throw failure(
                NSStagedMigrationBackwardMigrationError,
                "A store file cannot be migrated backwards with staged migration.")
        }
        for (index, stage) in manager.stages.enumerated().dropFirst(start.stage) {
            guard let stage = stage as? NSCustomMigrationStage else { continue }
            let current = try storeChecksum()
            if current == last.versionChecksum || stage.currentModel.versionChecksum == last.versionChecksum { break }
            if stage.nextModel.versionChecksum == current { continue }
            try lightweight(to: stage.currentModel.resolve(), before: index)
            try run(stage)
        }
        try lightweight(to: last, before: manager.stages.count)
    }

    private func storeChecksum() throws -> String {
        let metadata = try migration.storeClass.metadataForPersistentStore(with: migration.url)
        guard let checksum = metadata[NSPersistentStoreModelVersionChecksumKey] as? String else {
            throw failure(
                NSStagedMigrationFrameworkVersionMismatchError,
                "The store does not contain a checksum of its model. Open it once with the model that it was written with."
            )
        }
        return checksum
    }

    // MARK: - Lightweight stages

    /// Migrates the store by inference.
    ///
    /// - Parameter index: The stage that the migration precedes.
    private func lightweight(to model: NSManagedObjectModel, before index: Int) throws {
        let current = try storeChecksum()
        guard current != model.versionChecksum else { return }
        let through =
            try NSPersistentStore.flag(ChainedLightweightStagesOption, in: migration.options)
            ? versions(from: current, to: model, before: index) : []
        try migration.migrate(to: model, through: through)
    }

    /// The models of the lightweight versions after one version and before another, up to a stage.
    private func versions(
        from current: String, to model: NSManagedObjectModel, before index: Int
    ) throws -> [NSManagedObjectModel] {
        // A custom stage ends the chain of versions before it.
        let stages = manager.stages.prefix(index)
        let first = stages.lastIndex { $0 is NSCustomMigrationStage }.map { $0 + 1 } ?? 0
        var checksums = stages[first...].flatMap { ($0 as? NSLightweightMigrationStage)?.versionChecksums ?? [] }
        if let index = checksums.lastIndex(of: current) { checksums.removeFirst(index + 1) }
        if let index = checksums.firstIndex(of: model.versionChecksum) { checksums.removeSubrange(index...) }
        // A stage may list the last version beside the one that a custom stage begins with.
        let last = migration.coordinator.managedObjectModel.versionChecksum
        return try checksums.filter { $0 != last }.map(self.model)
    }

    private func model(_ checksum: String) throws -> NSManagedObjectModel {
        let references =
            manager.lightweightModels
            + manager.stages.compactMap { $0 as? NSCustomMigrationStage }.flatMap { [$0.currentModel, $0.nextModel] }
        if let reference = references.first(where: { $0.versionChecksum == checksum }) {
            return try reference.resolve()
        }
        let found = ModelBundles.models(in: nil, everyVersion: true).first { $0.versionChecksum == checksum }
        guard let found else {
            throw failure(
                NSManagedObjectModelReferenceNotFoundError,
                "There is no model with the checksum \(checksum), which a lightweight stage names.")
        }
        return found
    }

    // MARK: - Custom stages

    private func run(_ stage: NSCustomMigrationStage) throws {
        guard stage.willMigrateHandler != nil || stage.didMigrateHandler != nil else {
            return try migration.migrate(to: stage.nextModel.resolve())
        }
        guard let database = migration.database else { return try run(stage, on: migration) }
        try database.changeCopy(ofStoreAt: migration.url) { try run(stage, on: migration.at($0)) }
    }

    private func run(_ stage: NSCustomMigrationStage, on migration: StoreMigration) throws {
        if let handler = stage.willMigrateHandler {
            try withContainer(stage.currentModel.resolve(), migration) { try handler(manager, stage) }
        }
        let model = try stage.nextModel.resolve()
        try migration.migrate(to: model)
        if let handler = stage.didMigrateHandler {
            try withContainer(model, migration) { try handler(manager, stage) }
        }
    }

    /// Opens the store with a model, and closes it after the work.
    private func withContainer(
        _ model: NSManagedObjectModel, _ migration: StoreMigration, _ body: () throws -> Void
    ) throws {
        var options = migration.options
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        options[NSMigratePersistentStoresAutomaticallyOption] = nil
        let container = NSPersistentContainer(
            name: migration.url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        let coordinator = container.persistentStoreCoordinator
        let store = try coordinator.addPersistentStore(
            ofType: migration.type, configurationName: migration.configuration, at: migration.url, options: options)
        manager.container = container
        defer { manager.container = nil }
        do {
            try body()
        } catch {
            // The first error is the reason; the migration has failed with it.
            try? coordinator.remove(store)
            throw error
        }
        try coordinator.remove(store)
    }

    // MARK: - Stages

    private func checksums(_ stage: NSMigrationStage) -> [String] {
        switch stage {
        case let stage as NSLightweightMigrationStage: stage.versionChecksums
        case let stage as NSCustomMigrationStage: [stage.currentModel.versionChecksum, stage.nextModel.versionChecksum]
        default: []
        }
    }

    /// The first stage that names a version, and the version's place in it.
    private func position(of checksum: String, _ whose: String) throws -> (stage: Int, version: Int) {
        for (index, stage) in manager.stages.enumerated() {
            if let version = checksums(stage).firstIndex(of: checksum) { return (index, version) }
        }
        throw failure(
            NSManagedObjectModelReferenceNotFoundError,
            "The \(whose) model is in no stage of the migration: its checksum is \(checksum).\(nearest(to: checksum, whose))"
        )
    }

    /// The version of a stage that is nearest to the store's, and the difference: one that shipped may have been edited since.
    private func nearest(to checksum: String, _ whose: String) -> String {
        guard whose == "store's", let stored = migration.metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        else {
            return ""
        }
        let models = Set(manager.stages.flatMap(checksums)).sorted().compactMap { try? model($0) }
        let nearest = models.max { one, other in
            func equal(_ model: NSManagedObjectModel) -> Int {
                model.entityVersionHashesByName.count { stored[$0.key] == $0.value }
            }
            return equal(one) < equal(other)
        }
        guard let nearest else { return "" }
        let reasons = StoreRefusal.sentence(ofStoreAt: migration.url, metadata: migration.metadata, model: nearest)
        let identifiers = nearest.versionIdentifiers.map { "\($0)" }.filter { !$0.isEmpty }.sorted()
        let name = identifiers.isEmpty ? "" : " \(identifiers.joined(separator: ", "))"
        return " The nearest version of a stage is that\(name) with the checksum \(nearest.versionChecksum). \(reasons)"
    }

    /// Rejects versions that are the target of two stages.
    private func requireDistinct() throws {
        var targets: Set<String> = []
        for stage in manager.stages {
            let own = (stage as? NSCustomMigrationStage).map { [$0.nextModel.versionChecksum] } ?? checksums(stage)
            guard targets.isDisjoint(with: own) else {
                throw failure(NSMigrationError, "Duplicate version checksums across stages detected.")
            }
            targets.formUnion(own)
        }
    }

    private func failure(_ code: Int, _ sentence: String) -> CocoaError {
        CocoaError(
            CocoaError.Code(rawValue: code), sentence, url: migration.url,
            userInfo: ["metadata": migration.metadata, "reason": sentence])
    }
}
