import ArgumentParser
import AtomicFiles
import Coral
import CoralMigration

/// `coral migrate`: migrates a store to another version of its model.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Migrates a store to a later version of its model. Writes to the store.",
        discussion: """
            The migration is tried on a copy first, and the rows are examined: which ones would make it fail, and what \
            it removes. If it would fail, the store is not changed. A backup of the store is made before.

            If --to is an .xcdatamodeld or .momd, the store is migrated to its current version, and its other versions \
            are the intermediate ones; --through specifies other intermediate versions, in order. A step between two \
            versions is made with a mapping model if there is one for their version hashes, else by inference. \
            Inferred steps are one transaction in the store's file; with mapping models, the migrated store is made \
            beside the store and replaces it. For a store in PostgreSQL, the trial and a migration with mapping models \
            use another schema of its database.

            Options repair rows that would make the migration fail: --fill gives objects without a value of a required \
            attribute a value, --deduplicate merges objects with equal values, --convert converts values to the \
            attribute's new type. Values that cannot be converted are an error, unless --convert specifies: clamp for the \
            nearest number, clear for no value, or =VALUE for another value.

            The exit code of --dry-run is 0 if the migration would work and there is nothing to report, 2 if it would work \
            and values or objects are removed or changed, and 1 if it would fail.

            --sql prints the statements of a migration that is inferred, as they are executed on a copy of the store, \
            and changes nothing.

            EXAMPLES:
              coral migrate Notes.sqlite --to Notes.xcdatamodeld --dry-run
              coral migrate Notes.sqlite --to Notes.momd --mapping Notes1to2.cdm
              coral migrate Notes.sqlite --to Notes.momd --mapping Notes.app
              coral migrate Notes.sqlite --to 'Notes 3.xcdatamodel' \\
                --through 'Notes 2.xcdatamodel' -o New.sqlite
              coral migrate Notes.sqlite --to Notes.momd --fill Note.colour=white \\
                --deduplicate Tag=name --convert Note.count=clamp
            """)

    @Argument(
        help: "The store. It is changed, unless --output, --dry-run or --sql is given.", completion: Completion.stores)
    var store: String

    @OptionGroup var choice: MigrationChoice

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Create the migrated store here.", valueName: "file"),
        completion: Completion.stores)
    var output: String?

    @Flag(name: .long, help: "Replace an existing output without asking.")
    var force = false

    @OptionGroup(title: "Repairs") var repairs: MigrationRepairOptions

    @Flag(name: .long, help: "Try the migration on a copy, and change nothing.")
    var dryRun = false

    @Flag(name: .long, help: "Print the SQL statements of the migration, and change nothing.")
    var sql = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var backup: BackupOption

    func validate() throws {
        if output == "-" { throw ValidationError("A store is written to a file, not to standard output.") }
        guard sql else { return }
        for (name, isGiven) in [("--json", json), ("--dry-run", dryRun), ("--output", output != nil)] where isGiven {
            throw ValidationError("--sql prints statements and does nothing else: it cannot be combined with \(name).")
        }
    }

    func run() throws {
        let url = try OpenStore.location(at: store).withoutLinks
        // A store on a server is never replaced.
        var occupant = StoreCreation.Occupant.nothing
        if let output, !dryRun, !ServerURLs.isOne(output) {
            let models = ([choice.to] + choice.through + choice.mapping).map { URL(storeAt: $0) }
            occupant = try Confirmation.occupant(output, reading: [url] + models, isForced: force)
        }
        let migration = try choice.migration(repairs)
        let name = ShellWord.quoted(ServerURLs.shown(store))
        try InferredModel(migration.destination.model, store: url, path: choice.to).requireVersion(
            advice:
                "Its objects can be written to a new store with that model: coral export \(name) -o objects.json, and "
                + "coral import objects.json --into NEW.sqlite --model \(ShellWord.quoted(choice.to))")
        if sql { return try writeStatements(of: migration, forStoreAt: url) }
        let start = Date()
        let result = try rehearse(migration, onStoreAt: url)
        warnOfUnfittingMappings(migration, result)
        var report = MigrationReport(
            result, of: migration, store: ServerURLs.shown(store), rehearsalSeconds: Date().timeIntervalSince(start))
        if dryRun || !result.isPossible {
            try json ? JSONOutput.write(report) : StandardOutput.write(report.text)
            if let failure = result.failure {
                StandardError.write("coral: \(failure)\(Self.hint(for: result))\n")
                throw CommandStatus.failure.exitCode
            }
            if !result.findings.isEmpty { throw CommandStatus.findings.exitCode }
            return
        }
        if result.steps.isEmpty, output == nil { return try show(report) }
        if !json { try StandardOutput.write(report.text) }
        try StandardOutput.requireOpen()
        try migrate(url, migration, result, replacing: occupant)
        report.isMigrated = true
        try show(report)
    }

    private func rehearse(
        _ migration: ProgressiveMigration, onStoreAt url: URL
    ) throws -> MigrationRehearsal.Result {
        do {
            return try Work.run("Rehearsing", noun: nil) {
                try MigrationRehearsal(migration).run(onStoreAt: url, progress: $0)
            }
        } catch let error as MigrationError where error.code == .missingSourceVersion {
            throw CommandError("\(error) --through names it, or --to an .xcdatamodeld or .momd that contains it.")
        }
    }

    private func migrate(
        _ url: URL, _ migration: ProgressiveMigration, _ result: MigrationRehearsal.Result,
        replacing occupant: StoreCreation.Occupant
    ) throws {
        if let output {
            _ = try Work.run("Migrating", noun: nil) {
                try migration.migrateStore(
                    at: url, to: URL(storeAt: output), replacing: occupant, progress: $0)
            }
            return
        }
        let model = result.steps.first?.source.model ?? migration.destination.model
        try backup.protecting(storeAt: url, model: model) {
            _ = try Work.run("Migrating", noun: nil) { try migration.migrateStore(at: url, progress: $0) }
        }
    }

    private func writeStatements(of migration: ProgressiveMigration, forStoreAt url: URL) throws {
        #if !STORE_ENGINE
            throw CommandError("On this system the statements of a migration are not accessible.")
        #else
            let statements = try Work.run("Reading the store", noun: nil) {
                try migration.statements(forStoreAt: url, progress: $0)
            }
            guard !statements.isEmpty else {
                return try StandardOutput.write(
                    "-- \(ServerURLs.shown(store)) has the version \"\(migration.destination.name)\" already.\n"
                )
            }
            for statement in statements { try StandardOutput.write(statement + ";\n") }
        #endif
    }

    private func warnOfUnfittingMappings(_ migration: ProgressiveMigration, _ result: MigrationRehearsal.Result) {
        // A folder may contain the mapping models of other models, too.
        let files = Set(choice.mapping.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent })
        for mapping in migration.unfittingMappings(from: result.steps.first?.source) where files.contains(mapping.name)
        {
            StandardError.warn(
                "The mapping model \(mapping.name) is not used: its version hashes are not those of two of the "
                    + "versions. If a version has been edited since, create the mapping model again.")
        }
    }

    /// The reason why a mapping model with classes of a program fails here.
    private static func hint(for result: MigrationRehearsal.Result) -> String {
        let needsClasses = result.steps.contains { step in
            guard case .mapping(let mapping) = step.kind else { return false }
            return (mapping.model.entityMappings ?? []).contains { $0.entityMigrationPolicyClassName?.isEmpty == false }
        }
        return needsClasses
            ? " Migration policies are classes of the program, which this command does not contain: use "
                + "ProgressiveMigration in the program." : ""
    }

    private func show(_ report: MigrationReport) throws {
        try json ? JSONOutput.report(report) : StandardOutput.report(report.conclusion)
    }
}
