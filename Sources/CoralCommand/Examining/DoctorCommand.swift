import ArgumentParser
import AtomicFiles
import Coral
import CoralTools

#if STORE_ENGINE
    import struct StoreTools.StoreTreatment
#endif

/// `coral doctor`: what makes a store large or inconsistent, and its cures.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Finds what makes a store large, slow or inconsistent, and cures it.",
        discussion: """
            The examination lists the sizes of tables and indexes, and findings: free pages, rows that nothing owns, a long \
            history and who wrote it, files without a row and rows without a file, damage, violated constraints, missing \
            statistics, the tables of CloudKit's mirroring, and the indexes that the model's fetch requests lack. With --trace, \
            a file with the SQL statements of a program, the indexes that they lack. Each finding has its cost and its cure. Nothing is changed.

            --fix applies a cure: orphans=ENTITY deletes the rows of an entity that nothing owns, files removes \
            files without a row, statistics lets SQLite count the values of its indexes, and space only compacts the \
            file. The work is done on a copy, in one transaction, and all rows are compared with those before. Then \
            the copy is compacted, and replaces the store, after a confirmation or with --yes. A backup is made before. \
            The history does not record the cure. --dry-run tries the cure on a temporary copy only.

            Exit code 2 means that the examination has findings.

            EXAMPLES:
              coral doctor Notes.sqlite
              coral doctor Notes.sqlite --trace statements.log --json
              coral doctor Notes.sqlite --fix orphans=Item --fix files --dry-run
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A file with SQL statements of a program, one in a line, such as the log of -com.apple.CoreData.SQLDebug.",
            valueName: "file"), completion: .file())
    var trace: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Apply a cure: orphans=ENTITY, files, statistics or space. May be repeated.", valueName: "cure"))
    var fix: [String] = []

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var change: StoreChange

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if change.dryRun, fix.isEmpty { throw ValidationError("--dry-run requires --fix.") }
        if change.yes, fix.isEmpty { throw ValidationError("--yes requires --fix.") }
        if proof.proof, !fix.isEmpty, !change.dryRun {
            throw ValidationError("--proof is for reading: --fix changes the store.")
        }
        if trace != nil, !fix.isEmpty { throw ValidationError("--trace and --fix are separate steps.") }
    }

    func run() throws {
        #if !STORE_ENGINE
            throw CommandError("On this system the pages of a store cannot be read.")
        #else
            try proof.prove(store) { try fix.isEmpty ? examine() : treat() }
        #endif
    }
}

#if STORE_ENGINE

    extension DoctorCommand {
        private static let onServer =
            "The doctor examines files: the server itself manages those of a store in PostgreSQL."

        private func examine() throws {
            let statements = try trace.map(StatementTrace.init(at:))
            _ = try OpenStore.file(at: store, because: Self.onServer)
            let open = try OpenStore(path: store, model: source)
            let doctor = try Work.run("Examining", noun: nil) { progress in
                try StoreDoctor(
                    url: open.url, model: open.model, snapshot: open.snapshot(),
                    statements: statements?.statements ?? [],
                    progress: progress)
            }
            let report = DoctorReport(doctor, store: store)
            try json ? JSONOutput.write(report) : Pager.write(report.text)
            if doctor.findings.contains(where: { !$0.isNote }) { throw CommandStatus.findings.exitCode }
        }

        private func treat() throws {
            let url = try OpenStore.file(at: store, because: Self.onServer).withoutLinks
            let (model, cures, doctor) = try examined()
            if doctor.examination.mirroring != nil,
                cures.contains(where: { if case .orphans = $0 { true } else { false } })
            {
                throw CommandError(
                    "The store is mirrored to CloudKit, which would not learn of the deletion: delete the objects in the app."
                )
            }
            // Rows that contradict the model do not prevent a cure: all rows are compared, and stay as they are. Only for the search
            // for unused files must each row be intact, because a file could belong to a row that is not.
            if doctor.hindersReading || cures.contains(.unusedFiles),
                let damage = doctor.findings.first(where: { $0.kind == .damage })
            {
                throw CommandError("Nothing was changed: the store has to be repaired first. \(damage.message)")
            }
            let result = try change.dryRun ? rehearse(url, model, cures) : apply(url, model, cures)
            let report = TreatmentReport(result, store: store, isRehearsal: change.dryRun)
            if change.dryRun { return try json ? JSONOutput.write(report) : StandardOutput.write(report.text) }
            try json ? JSONOutput.report(report) : StandardOutput.report(report.text)
        }

        /// Examines the store before it is changed. Its connections are closed when this function returns.
        private func examined() throws -> (NSManagedObjectModel, Set<StoreTreatment.Cure>, StoreDoctor) {
            let open = try OpenStore(path: store, model: source)
            let model = open.model
            let cures = try cures(in: model)
            // Only these two need no relationships: statistics, and compacting, which is always done.
            if open.isInferred, !cures.isSubset(of: [.statistics]) {
                let inferred = InferredModel(model, store: open.url, path: source.model)
                try inferred.requireGiven()
                try inferred.requireInverses()
            }
            let doctor = try Work.run("Examining", noun: nil) {
                try StoreDoctor(url: open.url, model: model, snapshot: open.snapshot(), progress: $0)
            }
            try open.close()
            return (model, cures, doctor)
        }

        private func cures(in model: NSManagedObjectModel) throws -> Set<StoreTreatment.Cure> {
            var cures: Set<StoreTreatment.Cure> = []
            for word in fix {
                let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
                switch (parts.first, parts.count) {
                case ("files", 1): cures.insert(.unusedFiles)
                case ("statistics", 1): cures.insert(.statistics)
                case ("space", 1): break
                case ("orphans", 2): cures.insert(.orphans(try OpenStore.entity(named: parts[1], in: model).name ?? ""))
                default:
                    throw CommandError(
                        "There is no cure \"\(word)\". There are: orphans=ENTITY, files, statistics, space.")
                }
            }
            return cures
        }

        private func rehearse(
            _ url: URL, _ model: NSManagedObjectModel, _ cures: Set<StoreTreatment.Cure>
        ) throws -> StoreTreatment.Result {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coral-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let copy = folder.appendingPathComponent(url.lastPathComponent)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.replacePersistentStore(
                at: copy, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
                ofType: NSSQLiteStoreType)
            return try Work.run("Rehearsing", noun: nil) { _ in
                try StoreTreatment(url: copy, model: model, cures: cures).run()
            }
        }

        private func apply(
            _ url: URL, _ model: NSManagedObjectModel, _ cures: Set<StoreTreatment.Cure>
        ) throws -> StoreTreatment.Result {
            try change.confirm("change \(store)")
            return try change.backup.protecting(storeAt: url, model: model) {
                try Work.run("Curing", noun: nil) { _ in
                    try StoreTreatment.replaceStore(at: url, model: model, cures: cures)
                }
            }
        }
    }

#endif
