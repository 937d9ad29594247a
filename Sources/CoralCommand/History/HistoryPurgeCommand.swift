import ArgumentParser
import Coral

#if STORE_ENGINE
    import ManagedObjects
#endif

/// `coral history purge`: deletes the oldest part of a store's history.
struct HistoryPurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Deletes the oldest part of a store's history. Writes to the store.",
        discussion: """
            Objects are not changed. The number of changes to delete is shown first. They are deleted in one \
            transaction, after a confirmation or with --yes. A backup of the store is made before.

            Tokens of programs that follow the history expire if the programs have not read the deleted part. Do not \
            purge the history of a store that is mirrored to CloudKit.

            EXAMPLES:
              coral history purge Notes.sqlite --before 2026-01-01 --dry-run
              coral history purge Notes.sqlite --before 1042
              coral history purge Notes.sqlite --keep 100000 --yes
              coral history purge Notes.sqlite --keep-bytes 10000000 --vacuum
            """)

    @Argument(help: "The store. It is changed, unless --dry-run is given.", completion: Completion.stores)
    var store: String

    @Option(
        name: .long, help: ArgumentHelp("Delete the transactions before \(HistoryPoint.meaning).", valueName: "point"))
    var before: HistoryPoint?

    @Option(
        name: .long, help: ArgumentHelp("Keep at most this many changes.", valueName: "count"))
    var keep: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("Keep a history that takes at most about this many bytes of the file.", valueName: "count"))
    var keepBytes: Int?

    @Flag(name: .long, help: "Delete the transactions that all followers in the store's metadata have read.")
    var read = false

    @Flag(name: .long, help: "Return the freed space to the file system.")
    var vacuum = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var change: StoreChange

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        guard [before != nil, keep != nil, keepBytes != nil, read].filter({ $0 }).count == 1 else {
            throw ValidationError("Specify what to delete: --before, --keep, --keep-bytes or --read.")
        }
        if let keep, keep < 0 { throw ValidationError("--keep requires a number that is not negative.") }
        if let keepBytes, keepBytes < 0 {
            throw ValidationError("--keep-bytes requires a number that is not negative.")
        }
    }

    func run() throws {
        if vacuum, ServerURLs.isOne(store) {
            throw CommandError("--vacuum concerns files: the server itself reuses the space of deleted rows.")
        }
        let plan = try planned()
        let summary = "delete \(plan.count.map { Quantity.count($0, "change") } ?? "changes") from the history"
        guard !change.dryRun else { return try show("Would \(summary).", plan.count ?? 0, isSaved: false) }
        // Without a change to delete, the file may still be vacuumed.
        guard plan.count != 0 || vacuum else { return try show("Nothing to delete.", 0, isSaved: false) }
        try change.confirm(summary)
        let count = try change.backup.protecting(storeAt: plan.url, model: plan.model) {
            try purge(plan.url, plan.model)
        }
        try show("\(Quantity.count(count, "change")) deleted from the history.", count, isSaved: true)
    }

    private func show(_ sentence: String, _ count: Int, isSaved: Bool) throws {
        if json {
            let report = PurgeReport(isSaved: isSaved, deletedChanges: count)
            return try isSaved ? JSONOutput.report(report) : JSONOutput.write(report)
        }
        try isSaved ? StandardOutput.report("\(sentence)\n") : StandardOutput.write("\(sentence)\n")
    }

    /// The location and the model of the store, which is opened for reading only: opening it for writing would start a history
    /// in a store without one. It is closed before it is opened for writing, because SQLite removes the write-ahead log when
    /// the last connection is closed, if that connection can write.
    ///
    /// The count is that of the changes to delete; nil where only their deletion counts them.
    private func planned() throws -> (url: URL, model: NSManagedObjectModel, count: Int?) {
        let open = try OpenStore(path: store, model: source)
        guard open.coordinator.currentPersistentHistoryToken(fromStores: nil) != nil else {
            throw CommandError("\(ServerURLs.shown(store)) keeps no history of its changes.")
        }
        // A point that the history does not have is an error before the question, not after it.
        if let before, before.date() == nil { _ = try before.token(in: open) }
        #if STORE_ENGINE
            let count = try open.coordinator.countHistory(of: part(open))
        #else
            if change.dryRun { throw CommandError("On this system a history can be deleted, but not counted before.") }
            let count: Int? = nil
        #endif
        try open.close()
        return (open.url, open.model, count)
    }

    /// Opens the store for writing, and returns the number of changes that were deleted.
    private func purge(_ url: URL, _ model: NSManagedObjectModel) throws -> Int {
        var options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true as NSNumber]
        let writing = try OpenStore(
            url: url, model: model, isReadOnly: false, options: options, modelPath: source.model)
        let count = try Work.run("Deleting", noun: nil) { _ in try purge(writing) }
        try writing.close()
        guard vacuum else { return count }
        options[NSSQLiteManualVacuumOption] = true as NSNumber
        try OpenStore(url: url, model: model, isReadOnly: false, options: options, modelPath: source.model).close()
        return count
    }

    #if STORE_ENGINE
        private func part(_ open: OpenStore) throws -> HistoryPurge {
            if let before { return try before.date().map { .before($0) } ?? .beforeToken(before.token(in: open)) }
            return keep.map { .keepingChanges($0) } ?? keepBytes.map { .keepingBytes($0) } ?? .readByAllFollowers
        }

        private func purge(_ open: OpenStore) throws -> Int { try open.coordinator.purgeHistory(part(open)) }
    #else
        // Core Data's own requests delete a history by date and token only.
        private func purge(_ open: OpenStore) throws -> Int {
            guard let before else { throw CommandError("On this system, history can only be deleted with --before.") }
            let request: NSPersistentHistoryChangeRequest =
                try before.date().map { .deleteHistory(before: $0) } ?? .deleteHistory(before: before.token(in: open))
            request.resultType = .count
            let result = try open.context.performAndWait { try open.context.execute(request) }
            return ((result as? NSPersistentHistoryResult)?.result as? NSNumber)?.intValue ?? 0
        }
    #endif
}

/// The output of `coral history purge --json`.
private struct PurgeReport: Encodable {
    var isSaved: Bool
    /// The number of changes that were deleted, or that would be.
    var deletedChanges: Int
}
