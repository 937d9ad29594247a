import CoreData

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    import ManagedObjects

    /// The migration of a store in its tables, by steps that can all be inferred: one transaction of SQL.
    struct LightweightMigration {
        let url: URL
        let steps: [MigrationStep]

        /// Whether several steps are possible.
        static let isChaining = true

        /// Migrates the store. The progress counts a thousand units for each step.
        ///
        /// - Returns: True. Core Data's own migration can fail to find the model of the store.
        /// - Throws: Core Data's errors, and `CocoaError.userCancelled`. The store is then unchanged.
        func run(_ progress: Progress?) throws -> Bool {
            do {
                try migration(progress).run()
            } catch let error as CocoaError
                where error.errorCode == NSMigrationCancelledError && progress?.isCancelled == true
            {
                throw CocoaError(.userCancelled)
            }
            return true
        }

        /// The statements of the migration, from the beginning of the transaction to its end. They are executed.
        func statements(_ progress: Progress?) throws -> [String] {
            var statements = [url.isOfServer ? "BEGIN" : "BEGIN IMMEDIATE"]
            var migration = migration(progress)
            migration.didBegin = { statements.append($0) }
            try migration.run()
            return statements + ["COMMIT"]
        }

        private func migration(_ progress: Progress?) -> InPlaceMigration {
            var migration = InPlaceMigration(
                url: url, options: StoredModel.options(keepingJournalOf: url),
                models: steps.prefix(1).map(\.source.model) + steps.map(\.destination.model))
            migration.isCancelled = { progress?.isCancelled == true }
            let start = progress?.completedUnitCount ?? 0
            let count = Double(steps.count * 1000)
            migration.didComplete = { progress?.completedUnitCount = start + Int64($0 * count) }
            return migration
        }
    }
#else
    /// The migration of a store in its file, by one step that can be inferred.
    struct LightweightMigration {
        let url: URL
        let steps: [MigrationStep]

        /// Core Data's own lightweight migration has one step: several steps run on a copy.
        static let isChaining = false

        /// Migrates the store when it is added to a coordinator.
        ///
        /// - Returns: False if Core Data does not find the model of the store, and nothing was done.
        func run(_ progress: Progress?) throws -> Bool {
            guard steps.count == 1, let model = steps.last?.destination.model else { return false }
            var options = StoredModel.options(keepingJournalOf: url)
            options[NSMigratePersistentStoresAutomaticallyOption] = true
            options[NSInferMappingModelAutomaticallyOption] = true
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            do {
                let store = try coordinator.addPersistentStore(
                    ofType: url.storeType, configurationName: nil, at: url, options: options)
                try coordinator.remove(store)
                return true
            } catch let error as CocoaError where error.errorCode == NSMigrationMissingSourceModelError {
                return false
            }
        }
    }
#endif
