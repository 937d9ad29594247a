import ArgumentParser
import Coral
import CoralMigration

/// `coral fleet migrate`: migrates many stores.
struct FleetMigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Migrates each store to a later version of its model. Writes to the stores.",
        discussion: """
            Each store is migrated as coral migrate does: on a copy first. A store whose migration would fail is not changed, \
            and the job goes on with the others. Stores that have the version are left as they are, so that the same command \
            resumes a job. Stores in PostgreSQL are not backed up, and need --no-backup.

            EXAMPLES:
              coral fleet migrate tenants.txt --to Notes.xcdatamodeld --dry-run
              coral fleet migrate 'postgresql://db.example.org/app?schema=tenant_*' \\
                --to Notes.momd --no-backup --jobs 8
            """)

    @OptionGroup var options: FleetOptions

    @OptionGroup var choice: MigrationChoice

    @OptionGroup(title: "Repairs") var repairs: MigrationRepairOptions

    @Flag(name: .long, help: "Try the migrations on copies, and change nothing.")
    var dryRun = false

    @OptionGroup var backup: BackupOption

    func run() throws {
        let migration = try choice.migration(repairs)
        let (isTrial, makesBackup) = (dryRun, !backup.noBackup)
        let stores = try options.stores()
        if !isTrial, makesBackup, let store = stores.first(where: ServerURLs.isOne) {
            throw CommandError(
                "Nothing was changed: the command makes no backup of a store in PostgreSQL, such as "
                    + "\(ServerURLs.shown(store)). Make one with pg_dump, and use --no-backup.")
        }
        let job = FleetJob("migrate", title: isTrial ? "Rehearsing" : "Migrating", isTrial: isTrial, options)
        try job.run(on: stores) { store, progress in
            let url = try OpenStore.location(at: store).withoutLinks
            let result = try MigrationRehearsal(migration).run(onStoreAt: url, progress: progress)
            if let failure = result.failure { return FleetOutcome(.failed, failure) }
            let version = migration.destination.name
            guard let first = result.steps.first else {
                return FleetOutcome(.unchanged, "has the version \"\(version)\"")
            }
            let steps = result.steps.map { "\($0.source.name) -> \($0.destination.name)" }
            var outcome: FleetOutcome
            if isTrial {
                let count = result.findings.reduce(0) { $0 + $1.count }
                outcome = FleetOutcome(
                    result.findings.isEmpty ? .done : .findings,
                    result.findings.isEmpty
                        ? "the migration works" : "\(Quantity.count(count, "finding")): \(result.findings[0].message)")
            } else {
                if makesBackup { _ = try BackupOption.backUp(url, first.source.model, progress: progress) }
                _ = try migration.migrateStore(at: url, progress: progress)
                outcome = FleetOutcome(
                    .done, "migrated \(Quantity.count(result.objectCount, "object")) to \"\(version)\"")
            }
            outcome.objectCount = result.objectCount
            outcome.steps = steps
            return outcome
        }
    }
}
