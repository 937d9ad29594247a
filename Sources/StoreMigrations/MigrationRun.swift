import CoreDataErrors
import Foundation
import ManagedObjects
import ModelFiles

/// One call of `migrateStore`: opens both stores, runs the three stages, saves.
struct MigrationRun {
    typealias Location = (url: URL, type: String, options: [AnyHashable: Any]?)

    let manager: NSMigrationManager
    let source: Location
    let destination: Location

    /// A mapping with its policy, which is used in all stages.
    private struct Step {
        let mapping: NSEntityMapping
        let policy: NSEntityMigrationPolicy
    }

    func run(_ model: NSMappingModel) throws {
        try requireFitting(model)
        manager.begin()
        let steps = try (model.entityMappings ?? []).map {
            Step(mapping: $0, policy: try MigrationPolicyClasses.shared.policy(of: $0))
        }
        let origin = try openSource()
        defer { manager.stacks.source.close() }
        let isNew = try !hasDestination
        let store = try openDestination()
        manager.destinationStore = store
        defer { manager.destinationStore = nil }
        do {
            if isNew {
                copyMetadata(from: origin, to: store)
                try keepKeys(of: origin, in: store, model)
            }
            try runStages(steps)
            try save()
            if isNew, manager.keepsHistory {
                try manager.copyHistory(model.entityMappings ?? [], from: origin, to: store)
            }
            manager.stacks.destination.close()
        } catch {
            manager.stacks.destination.close()
            if isNew {
                try? manager.stacks.destination.coordinator.destroyPersistentStore(
                    at: destination.url, ofType: destination.type, options: destination.options)
                // Destroying an SQLite store leaves an empty file, which another attempt would take for an existing destination.
                try? FileManager.default.removeItem(at: destination.url)
            }
            throw error
        }
    }

    // MARK: - Stores

    /// Whether there is a store at the destination. A database that was destroyed is none, although its file may exist.
    ///
    /// - Throws: The error if that is not known, because the database cannot be read: a migration that fails removes what it has
    ///   created.
    private var hasDestination: Bool {
        get throws {
            guard [StoreClasses.serverType, NSSQLiteStoreType].contains(destination.type) else {
                return FileManager.default.fileExists(atPath: destination.url.path)
            }
            do {
                _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: destination.type, at: destination.url)
                return true
            } catch let error as CocoaError where [.fileReadNoSuchFile, .fileReadCorruptFile].contains(error.code) {
                // A database without tables, or one that is not a store: opening that fails too, before anything is written.
                return false
            }
        }
    }

    private func openSource() throws -> NSPersistentStore {
        var options = source.options ?? [:]
        // A policy can change the source if the caller's options open it for writing.
        options[NSReadOnlyPersistentStoreOption] = options[NSReadOnlyPersistentStoreOption] ?? true
        options[NSMigratePersistentStoresAutomaticallyOption] = nil
        do {
            return try manager.stacks.source.coordinator.addPersistentStore(
                ofType: source.type, configurationName: nil, at: source.url, options: options)
        } catch {
            throw CocoaError(
                .migrationManagerSourceStore, "The source store cannot be opened with the source model.",
                url: source.url,
                userInfo: [NSUnderlyingErrorKey: error])
        }
    }

    private func openDestination() throws -> NSPersistentStore {
        var options = destination.options ?? [:]
        options[NSMigratePersistentStoresAutomaticallyOption] = nil
        do {
            return try manager.stacks.destination.coordinator.addPersistentStore(
                ofType: destination.type, configurationName: manager.destinationConfiguration, at: destination.url,
                options: options)
        } catch {
            throw CocoaError(
                .migrationManagerDestinationStore, "The destination store cannot be opened with the destination model.",
                url: destination.url, userInfo: [NSUnderlyingErrorKey: error])
        }
    }

    /// Copies the program's own keys of the metadata; keys that describe the file itself are not copied.
    private func copyMetadata(from origin: NSPersistentStore, to store: NSPersistentStore) {
        var metadata: [String: Any] = store.metadata
        metadata.merge((origin.metadata ?? [:]).filter { StoreMetadataKeys.isOfProgram($0.key) }) { here, _ in here }
        if let identifier = manager.destinationIdentifier {
            metadata[NSStoreUUIDKey] = identifier
            store.identifier = identifier
        }
        store.metadata = metadata
    }

    /// Preserves the primary keys of rows, and with them the URIs of objects, for each table of the new store whose objects
    /// come from one table of the old store.
    private func keepKeys(of origin: NSPersistentStore, in store: NSPersistentStore, _ model: NSMappingModel) throws {
        guard origin is any DatabaseStore, store is any DatabaseStore else { return }
        var origins: [String: Set<String>] = [:]
        var sources: [String: Set<String>] = [:]
        for mapping in model.entityMappings ?? [] {
            guard let from = manager.sourceEntity(for: mapping)?.rootEntity.name,
                let to = manager.destinationEntity(for: mapping)?.rootEntity.name
            else { continue }
            origins[to, default: []].insert(from)
            guard let name = mapping.sourceEntityName, !sources[to, default: []].insert(name).inserted else { continue }
            manager.keysInUse[to] = []
        }
        for (root, sources) in origins where sources.count == 1 {
            guard let from = sources.first.flatMap({ manager.stacks.source.model.entitiesByName[$0] }),
                let to = manager.stacks.destination.model.entitiesByName[root],
                let rows = store.rowStore, let sourceRows = origin.rowStore
            else { continue }
            let keys = try sourceRows.keys(matching: RowQuery(entity: from), generation: nil).map(\.number)
            // New rows without a source get larger keys.
            if let last = keys.max(), last > 0 { _ = try rows.reserveKeys(entity: to, count: Int(last)) }
            manager.rootsKeepingKeys.insert(root)
        }
    }

    // MARK: - Stages

    private func runStages(_ steps: [Step]) throws {
        let total = Float(max(1, steps.count * 3))
        var done: Float = 0
        func process(_ step: Step, _ body: (_ progress: (Float) -> Void) throws -> Void) throws {
            manager.currentMapping = step.mapping
            try manager.checkCancellation()
            try body { manager.setProgress((done + $0) / total) }
            done += 1
            manager.setProgress(done / total)
        }
        for step in steps { try process(step) { try createInstances(step, $0) } }
        for step in steps { try process(step) { try createRelationships(step, $0) } }
        for step in steps {
            try process(step) { _ in
                try step.policy.performCustomValidation(forMapping: step.mapping, manager: manager)
                try step.policy.end(step.mapping, manager: manager)
            }
        }
        try manager.checkCancellation()
    }

    private func createInstances(_ step: Step, _ progress: (Float) -> Void) throws {
        try step.policy.begin(step.mapping, with: manager)
        if step.mapping.mappingType != .addEntityMappingType, step.mapping.mappingType != .removeEntityMappingType,
            manager.destinationEntity(for: step.mapping) != nil || step.mapping.mappingType == .customEntityMappingType
        {
            let instances = try sourceInstances(step)
            for (index, instance) in instances.enumerated() {
                try manager.checkCancellation()
                try step.policy.createDestinationInstances(forSource: instance, in: step.mapping, manager: manager)
                progress(Float(index + 1) / Float(instances.count))
            }
        }
        try step.policy.endInstanceCreation(forMapping: step.mapping, manager: manager)
    }

    private func sourceInstances(_ step: Step) throws -> [NSManagedObject] {
        guard let expression = step.mapping.sourceExpression else {
            guard let name = step.mapping.sourceEntityName else { return [] }
            return try manager.sourceContext.fetch(manager.fetchRequest(entityName: name, predicateFormat: nil))
        }
        let values = MappingValues(
            manager: manager, policy: step.policy, mapping: step.mapping, source: nil, destination: nil)
        return try MappingValues.objects(in: values.value(of: expression.node, nil))
    }

    private func createRelationships(_ step: Step, _ progress: (Float) -> Void) throws {
        let instances = manager.associations.destinations(mapping: step.mapping.name)
        for (index, instance) in instances.enumerated() {
            try manager.checkCancellation()
            try step.policy.createRelationships(forDestination: instance, in: step.mapping, manager: manager)
            progress(Float(index + 1) / Float(instances.count))
        }
        try step.policy.endRelationshipCreation(forMapping: step.mapping, manager: manager)
    }

    private func save() throws {
        let context = manager.destinationContext
        context.validatesChanges = manager.validatesDestination
        do {
            if context.hasChanges || manager.destinationStore?.changedMetadata != nil { try context.save() }
        } catch let error as CocoaError where error.code == .managedObjectConstraintMerge {
            throw CocoaError(
                CocoaError.Code(rawValue: NSMigrationConstraintViolationError),
                "Migrated objects break a uniqueness constraint of the destination model.",
                url: destination.url, userInfo: error.userInfo.merging([NSUnderlyingErrorKey: error]) { own, _ in own })
        }
    }

    // MARK: - Checks

    /// - Throws: Code 134140 if a mapping names an entity that its model does not have, or one of another version.
    private func requireFitting(_ model: NSMappingModel) throws {
        var names: Set<String> = []
        for mapping in model.entityMappings ?? [] {
            let name = mapping.name ?? ""
            if !names.insert(name).inserted {
                throw refusal("Two entity mappings have the name “\(name)”.")
            }
            let sides = [
                ("source", mapping.sourceEntityName, mapping.sourceEntityVersionHash, manager.originalModels.source),
                (
                    "destination", mapping.destinationEntityName, mapping.destinationEntityVersionHash,
                    manager.originalModels.destination
                ),
            ]
            for case (let side, let entity?, let hash, let model) in sides {
                guard let known = model.entityVersionHashesByName[entity] else {
                    throw refusal("The \(side) model has no entity “\(entity)”, which the mapping “\(name)” names.")
                }
                if let hash, hash != known {
                    throw refusal(
                        "The mapping “\(name)” was made for another version of the entity “\(entity)” of the \(side) model."
                    )
                }
            }
            let destinationEntity = manager.destinationEntity(for: mapping)
            for property in (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? []) {
                guard let destinationEntity, destinationEntity.propertiesByName[property.name ?? ""] == nil else {
                    continue
                }
                throw refusal(
                    "The entity “\(destinationEntity.name ?? "")” has no property “\(property.name ?? "")”, which the mapping "
                        + "“\(name)” sets.")
            }
        }
    }

    private func refusal(_ reason: String) -> CocoaError {
        CocoaError(
            .migrationMissingMappingModel, "The mapping model does not fit the models. \(reason)", url: source.url,
            userInfo: [
                "sourceModel": manager.sourceModel, "destinationModel": manager.destinationModel, "reason": reason,
            ])
    }
}
