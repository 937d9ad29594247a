import ArgumentParser
import Coral

/// `coral history`: the history of a store. Without a subcommand it shows the history.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows the history of changes in a store, or deletes old history.",
        discussion: """
            EXAMPLES:
              coral history Notes.sqlite --since 2026-01-31
              coral history Notes.sqlite --since 1042 --entity Note --json
              coral history purge Notes.sqlite --before 2026-01-01
            """,
        subcommands: [HistoryShowCommand.self, HistoryPurgeCommand.self], defaultSubcommand: HistoryShowCommand.self)
}

/// `coral history STORE`: the transactions of a store, oldest first.
struct HistoryShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows the history of changes in a store.",
        discussion: """
            Each transaction has a line with its number, its time (UTC, or in the zone of \
            --time-zone), and, if known, its author, context, process \
            and program. It is followed by a line for each changed object: + for an inserted object, ~ for an updated \
            one with the properties that were set, - for a deleted one with the values that the history preserves. If \
            the store keeps old values, the old and the new value of each property are shown. Output begins immediately \
            and needs little memory, regardless of the length of the history. The word show is optional.

            EXAMPLES:
              coral history show Notes.sqlite --since 2026-01-31 --author Ada
              coral history show Notes.sqlite --since 1042 --json
              coral history show Notes.sqlite --until 2026-02-01 --time-zone Europe/Berlin
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Option(name: .long, help: ArgumentHelp("Begin after \(HistoryPoint.meaning).", valueName: "point"))
    var since: HistoryPoint?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only transactions before a date, or up to the transaction with a number.", valueName: "point"))
    var until: HistoryPoint?

    @Option(name: .long, help: "Only transactions of this author.")
    var author: String?

    @Option(name: .long, help: "Only changes of objects of this entity or its subentities.")
    var entity: String?

    @Option(name: .long, help: ArgumentHelp("Only changes of the object with this URI.", valueName: "uri"))
    var object: String?

    @Flag(name: .long, help: "Print a JSON array with one object for each transaction.")
    var json = false

    @Flag(name: .long, help: "Print an HTML page.")
    var html = false

    @OptionGroup var zone: TimeZoneOption

    @OptionGroup var file: OutputFile

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if json, html { throw ValidationError("Choose one of --json and --html.") }
    }

    func run() throws { try proof.prove(store, writing: file.url, body: show) }

    private func show() throws {
        let open = try OpenStore(path: store, model: source)
        var pages = HistoryPages(open.coordinator)
        if let since { pages.start = try since.start(in: open, zone: zone.zone) }
        let end = try until?.end(zone: zone.zone)
        pages.author = author
        let filter = try HistoryChangeFilter(entity: entity, object: object, in: open)
        try file.requireFree(reading: open.url, source.url)
        let output = ByteOutput(to: try file.sink())
        var writer = writer(to: output, title: open.url.lastPathComponent)
        var count = 0
        try open.readingHistory {
            try Work.run("Reading", noun: nil) { progress in
                try writer.begin()
                try pages.forEach(progress: progress) { transaction in
                    if let end, !end.includes(transaction) { return }
                    let changes = (transaction.changes ?? []).filter(filter.admits)
                    if filter.isNarrow, changes.isEmpty { return }
                    let entry = try HistoryEntry(transaction, changes: changes, zone: zone.zone)
                    count += 1
                    try writer.write(entry)
                }
                try writer.finish()
            }
        }
        try output.finish()
        file.report(Quantity.count(count, "transaction"))
    }

    private func writer(to output: ByteOutput, title: String) -> any HistoryWriter {
        if json { return HistoryJSON(output) }
        return html ? HistoryPage(output, title: title) : HistoryText(output)
    }
}

/// A filter for changes.
struct HistoryChangeFilter {
    private let entity: NSEntityDescription?
    private let object: NSManagedObjectID?

    /// Throws `CommandError` for an entity that the model does not have, and for a URI that is not one of an object of
    /// the store.
    init(entity: String?, object: String?, in open: OpenStore) throws {
        self.entity = try entity.map { try open.entity(named: $0) }
        self.object = try object.map { text in
            guard let url = URL(string: text), let id = open.coordinator.managedObjectID(forURIRepresentation: url)
            else {
                throw CommandError(
                    "\"\(text)\" is not a URI of an object of the store, such as x-coredata://UUID/Note/p1.")
            }
            return id
        }
    }

    var isNarrow: Bool { entity != nil || object != nil }

    func admits(_ change: NSPersistentHistoryChange) -> Bool {
        let id = change.changedObjectID
        if let object, object != id { return false }
        return entity.map { id.entity.isKindOf(entity: $0) } ?? true
    }
}
