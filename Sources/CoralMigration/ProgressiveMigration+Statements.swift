import Coral
import CoreData

extension ProgressiveMigration {
    /// The SQL statements that ``migrateStore(at:to:progress:)`` would execute on a store, with their values, in
    /// order: one transaction. None if the store already has the version to migrate to. The store is not changed.
    ///
    /// The statements are recorded while they migrate a copy in the temporary folder, or in another schema of the same
    /// database. Where values are stored in files beside the store, the statements call functions of the engine. Cost:
    /// those of the migration, and of a copy of the store.
    ///
    /// - Parameters:
    ///   - url: The location of the store.
    ///   - progress: Can cancel the migration of the copy.
    /// - Throws: ``MigrationError`` if a step is not possible or is not inferred, Core Data's errors if the rows break a
    ///   constraint of the model or the store cannot be read, and `CocoaError.userCancelled`.
    public func statements(forStoreAt url: URL, progress: Progress? = nil) throws -> [String] {
        let steps = try possibleSteps(forStoreAt: url)
        guard !steps.isEmpty else { return [] }
        guard isLightweight(steps) else { throw notLightweight(steps) }
        let scratch = ScratchStores(forCopiesOf: url)
        defer { scratch.remove() }
        let copy = try scratch.next()
        try StoreCreation.copyStore(at: url, to: copy, model: steps[0].source.model)
        let count = steps.count * 1000
        progress?.begin(count)
        guard
            let statements = try Engine.current.statements(ofMigrating: copy, through: steps.models, progress: progress)
        else {
            throw MigrationError(.notLightweight, "Core Data's public API does not show its SQL statements.")
        }
        progress?.completedUnitCount = Int64(count)
        return statements
    }

    private func notLightweight(_ steps: [MigrationStep]) -> MigrationError {
        guard repairs.isEmpty else {
            return MigrationError(
                .notLightweight, "A migration with repairs changes objects: there are no SQL statements to show.")
        }
        let mapped = steps.first { if case .inferred = $0.kind { false } else { true } }
        return MigrationError(
            .notLightweight,
            "The step from \"\(mapped?.source.name ?? "")\" to \"\(mapped?.destination.name ?? "")\" is made by a mapping "
                + "model, through objects: there are no SQL statements to show.")
    }
}
