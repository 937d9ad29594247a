import Coral
import CoreData

extension ProgressiveMigration {
    /// Migrates a store. On an error it is unchanged.
    ///
    /// Inferred steps are lightweight migrations in the store's file. With this package's engine several steps are run in one
    /// transaction; with Apple's framework, one step. Other migrations run on a copy beside the store, which replaces it when
    /// all steps are complete. The copy of a store in PostgreSQL is in another schema of its database.
    ///
    /// The UUID and the program's own metadata are kept; with this package's engine also the primary keys, and with them
    /// the URIs of objects. A mapping model whose policies are classes of a program needs these classes.
    ///
    /// - Parameters:
    ///   - url: The store. It must not be open in any coordinator or other process.
    ///   - output: Where the migrated store is created; nil to replace the store.
    ///   - progress: Counts thousandths of steps, and can cancel the migration; with Apple's framework not during a lightweight
    ///     migration.
    /// - Returns: The steps; none if the store already has the destination's version and nothing was done.
    /// - Throws: ``MigrationError`` if a step is not possible or a repair does not fit, Core Data's errors, those of
    ///   policies, and `CocoaError.userCancelled`.
    @discardableResult
    public func migrateStore(at url: URL, to output: URL? = nil, progress: Progress? = nil) throws -> [MigrationStep] {
        try migrateStore(at: url, to: output, replacing: .nothing, progress: progress)
    }

    /// Migrates a store.
    ///
    /// - Parameter occupant: What may exist at the location of the output and be replaced.
    @discardableResult
    package func migrateStore(
        at url: URL, to output: URL?, replacing occupant: StoreCreation.Occupant, progress: Progress? = nil
    ) throws -> [MigrationStep] {
        let steps = try possibleSteps(forStoreAt: url)
        if steps.isEmpty, output == nil { return [] }
        if output == nil, isLightweight(steps) {
            let count = steps.count * 1000
            progress?.begin(count)
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            if try Engine.current.migrate(storeAt: url, through: steps.models, progress: progress) {
                progress?.completedUnitCount = Int64(count)
                return steps
            }
        }
        if let refusal = refusal(of: steps, ofStoreAt: url, to: output) { throw refusal }
        if url.isOfServer || output?.isOfServer == true {
            try migrateOnServer(steps, url, to: output, replacing: occupant, progress)
            return steps
        }
        let draft = try Engine.current.makeDraft(at: output ?? url, model: destination.model)
        let copy = try draft.copy(of: url, isLocked: output == nil)
        let execution = StepExecution(
            migration: self, scratch: ScratchStores(in: draft.workFolder, named: copy.lastPathComponent),
            progress: progress)
        try execution.run(steps, from: copy, to: draft.url)
        try draft.commit(replacing: output == nil ? .store : occupant)
        return steps
    }

    /// Whether the steps can be made in the file of a store.
    func isLightweight(_ steps: [MigrationStep]) -> Bool {
        guard repairs.isEmpty, steps.count == 1 || Engine.current.migratesChains else { return false }
        return steps.allSatisfy(\.isInferred)
    }

    /// Migrates a copy of a store where the store, or the output, is on a server.
    private func migrateOnServer(
        _ steps: [MigrationStep], _ url: URL, to output: URL?, replacing occupant: StoreCreation.Occupant,
        _ progress: Progress?
    ) throws {
        let scratch = ScratchStores(forCopiesOf: output ?? url)
        defer { scratch.remove() }
        func fill(_ result: URL) throws {
            let copy = try scratch.next()
            try StoreCreation.copyStore(at: url, to: copy, model: steps.first?.source.model ?? destination.model)
            try StepExecution(migration: self, scratch: scratch, progress: progress).run(steps, from: copy, to: result)
        }
        guard let output else { return try Engine.current.replaceServerStore(at: url, fill) }
        try StoreCreation.makeStore(at: output, model: destination.model, replacing: occupant, fill)
    }

    /// The error of steps that are not possible for a store in PostgreSQL.
    func refusal(of steps: [MigrationStep], ofStoreAt url: URL, to output: URL? = nil) -> MigrationError? {
        guard url.isOfServer, output == nil, !isLightweight(steps), !Engine.current.replacesServerStores else {
            return nil
        }
        return MigrationError(
            .notLightweight,
            "Core Data's public API cannot replace a store in PostgreSQL: it is migrated in place by inferred steps only."
        )
    }

    /// The steps for a store, after all checks that need no rows.
    func possibleSteps(forStoreAt url: URL) throws -> [MigrationStep] {
        for repair in repairs { try repair.requireProperties(in: versions.map(\.model)) }
        let steps = try steps(forStoreAt: url)
        guard let last = steps.last, !last.obstacles.isEmpty else { return steps }
        throw last.error
    }
}

extension MigrationStep {
    /// The error of an impossible step.
    var error: MigrationError {
        MigrationError(
            .impossibleStep,
            "The migration from \"\(source.name)\" to \"\(destination.name)\" cannot be inferred, and there is no mapping model. "
                + obstacles.prefix(5).map(\.description).joined(separator: " ")
                + (obstacles.count > 5 ? " …" : ""))
    }
}
