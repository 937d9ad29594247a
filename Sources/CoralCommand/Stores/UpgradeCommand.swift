import ArgumentParser
import Coral

#if STORE_ENGINE
    import struct SQLStores.StoreUpgrade
#endif

/// `coral upgrade`: gives the tables of a store in PostgreSQL the form that a new store has.
struct UpgradeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Gives a store of an earlier version of Coral the tables of a new one. Writes to the store.",
        discussion: """
            Opening a store in PostgreSQL does not change the tables that it has. This command gives them what a new store \
            has and this one lacks: free space in new pages, the key of the history's changes, indexes, columns, views, \
            functions and triggers. The rows stay as they are. What others have added to the schema stays, too.

            Others may use the store during the upgrade. Indexes are built beside the work of others; a step that needs a lock waits \
            0.2 seconds for it at most, and is then tried again, for a minute. Each step is complete or has no effect: \
            after an interruption the same command goes on with the rest. The user must own the tables, and may create \
            schemas in the database (GRANT CREATE ON DATABASE), because the server is asked what a new store would be. The \
            URL must reach the server itself. Add direct=host:port to the URL of a pooler.

            A store in a file needs no upgrade, because its tables have the form of Core Data in every version.

            The exit code is 2 if --dry-run lists steps, or if differences remain that would need the rewriting of a table.

            EXAMPLES:
              coral upgrade 'postgresql://db.example.org/app?schema=notes' --dry-run
              coral upgrade 'postgresql://db.example.org/app?schema=notes'
            """)

    @Argument(help: "The store. It is changed, unless --dry-run is given.", completion: Completion.stores)
    var store: String

    @Flag(name: .long, help: "List the steps with their statements, and change nothing.")
    var dryRun = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func run() throws {
        #if !STORE_ENGINE
            throw CommandError("On this system, stores in files are opened by Core Data, and need no upgrade.")
        #else
            let url = try OpenStore.location(at: store).withoutLinks
            var upgrade = StoreUpgrade(url: url, model: try source.givenModel())
            var report = UpgradeReport(store: ServerURLs.shown(store), isFile: url.isFileURL, try upgrade.plan())
            guard !dryRun, !report.steps.isEmpty else {
                try json ? JSONOutput.write(report) : StandardOutput.write(report.text)
                if !report.steps.isEmpty || !report.remaining.isEmpty { throw CommandStatus.findings.exitCode }
                return
            }
            try StandardOutput.requireOpen()
            var doneCount = 0
            do {
                try Work.run("Upgrading", noun: nil) { progress in
                    progress.totalUnitCount = 1000
                    upgrade.willBegin = { _, index, _ in doneCount = index }
                    upgrade.didComplete = { progress.completedUnitCount = Int64($0 * 1000) }
                    upgrade.isCancelled = { progress.isCancelled }
                    try upgrade.run()
                }
            } catch let error as CocoaError where error.code == .userCancelled {
                // Unlike other changes, this one is not undone.
                StandardError.write(
                    "coral: Interrupted. \(Quantity.count(doneCount, "step")) of \(report.steps.count) "
                        + "\(doneCount == 1 ? "is" : "are") done. The same command goes on with the rest.\n")
                throw Interruption.shared.status.exitCode
            }
            report.isDone = true
            try json ? JSONOutput.report(report) : StandardOutput.report(report.text)
            if !report.remaining.isEmpty { throw CommandStatus.findings.exitCode }
        #endif
    }
}

#if STORE_ENGINE
    /// The output of `coral upgrade`.
    private struct UpgradeReport: Encodable {
        struct Step: Encodable {
            var summary: String
            var statements: [String]
        }

        var store: String
        var isDone = false
        var steps: [Step]
        /// The differences that stay.
        var remaining: [String]

        private let isFile: Bool

        private enum CodingKeys: CodingKey { case store, isDone, steps, remaining }

        init(store: String, isFile: Bool, _ plan: StoreUpgrade.Plan) {
            self.store = store
            self.isFile = isFile
            steps = plan.steps.map { Step(summary: $0.summary, statements: $0.statements) }
            remaining = plan.remaining
        }

        var text: String { body + remaining.map { $0 + "\n" }.joined() }

        private var body: String {
            if isFile {
                return
                    "\(store) is a store in a file, whose tables have the form of Core Data in every version: it needs no "
                    + "upgrade. coral check finds tables, columns and indexes that it lacks.\n"
            }
            guard !steps.isEmpty else { return "\(store) has the tables of a new store: it needs no upgrade.\n" }
            if isDone {
                return steps.map { "\($0.summary)\n" }.joined() + "\(Quantity.count(steps.count, "step")) done.\n"
            }
            let list = steps.enumerated().map { index, step in
                "\(index + 1). \(step.summary)\n" + step.statements.map { TextStyle.faint.text("   \($0);\n") }.joined()
            }
            return list.joined() + "\(Quantity.count(steps.count, "step")). Nothing was changed.\n"
        }
    }
#endif
