import ArgumentParser
import Coral

/// `coral history purge`: deletes the oldest part of a store's history.
struct HistoryPurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Deletes the oldest part of a store's history.",
        discussion: """
            Objects are not changed. Tokens of programs that follow the history expire if the programs have not read \
            the deleted part. Do not purge the history of a store that is mirrored to CloudKit.

            EXAMPLES:
              coral history purge Notes.sqlite --before 2026-01-01
              coral history purge Notes.sqlite --before 1042
              coral history purge Notes.sqlite --keep 100000
              coral history purge Notes.sqlite --keep-bytes 10000000 --vacuum
            """)

    @Argument(help: "The store.", completion: Completion.stores)
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

    @Flag(name: .long, help: "Delete without confirmation.")
    var force = false

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
        let (url, model) = try trackedStore()
        guard force || Confirmation.isGiven("Delete history of \(ServerURLs.shown(store))?") else {
            throw CommandError("Nothing was deleted. Use --force to delete without confirmation.")
        }
        var options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true as NSNumber]
        let writing = try OpenStore(
            url: url, model: model, isReadOnly: false, options: options, modelPath: source.model)
        let count = try Work.run("Deleting", noun: nil) { _ in try purge(writing) }
        try writing.close()
        if vacuum {
            options[NSSQLiteManualVacuumOption] = true as NSNumber
            _ = try OpenStore(url: url, model: model, isReadOnly: false, options: options, modelPath: source.model)
        }
        if json { return try JSONOutput.report(["deletedChanges": count]) }
        try StandardOutput.report("\(Quantity.count(count, "change")) deleted from the history.\n")
    }

    /// The location and the model of the store, which is opened for reading only: opening it for writing would start a history
    /// in a store without one. It is closed before it is opened for writing, because SQLite removes the write-ahead log when
    /// the last connection is closed, if that connection can write.
    private func trackedStore() throws -> (url: URL, model: NSManagedObjectModel) {
        let open = try OpenStore(path: store, model: source)
        guard open.coordinator.currentPersistentHistoryToken(fromStores: nil) != nil else {
            throw CommandError("\(ServerURLs.shown(store)) keeps no history of its changes.")
        }
        // A point that the history does not have is an error before the question, not after it.
        if let before, before.date == nil { _ = try before.token(in: open) }
        try open.close()
        return (open.url, open.model)
    }

    private func purge(_ open: OpenStore) throws -> Int {
        if let before {
            let request: NSPersistentHistoryChangeRequest =
                try before.date.map { .deleteHistory(before: $0) } ?? .deleteHistory(before: before.token(in: open))
            request.resultType = .count
            let result = try open.context.performAndWait { try open.context.execute(request) }
            return ((result as? NSPersistentHistoryResult)?.result as? NSNumber)?.intValue ?? 0
        }
        #if !STORE_ENGINE
            throw CommandError("On this system, history can only be deleted with --before.")
        #else
            return try open.coordinator.purgeHistory(
                keep.map { .keepingChanges($0) } ?? keepBytes.map { .keepingBytes($0) } ?? .readByAllFollowers)
        #endif
    }
}
