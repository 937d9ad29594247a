import ArgumentParser
import AtomicFiles
import Coral

/// `coral diff`: the differences between two stores or documents, by object.
struct DiffCommand: ParsableCommand {
    /// The way in which objects are matched.
    enum Match: String, ExpressibleByArgument, CaseIterable {
        case automatic, keys, ids

        var naming: GraphComparison.Naming {
            switch self {
            case .automatic: .automatic
            case .keys: .keys
            case .ids: .ids
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares two stores or documents, or a store with its earlier state, object by object.",
        discussion: """
            Each side is a store or a document of any format. Objects of one store and its documents are matched by \
            their primary keys; others by their identity: --key, the model's user info (coral.identity), or uniqueness \
            constraints. --match overrides this. Exit code 2 means that there are differences.

            A line begins with + for an object that only the new side contains, with - for one that only the old side \
            contains, with ~ for a different value and with > for a different relationship. With --output the \
            differences are written as a document that a program can apply and revert; --json prints it.

            If two stores have different models, each is read with its own, and a property that only one of them has is \
            absent on the other side.

            With --since the only side is a store with a history, from which the changes are read. The old values of \
            updated properties are not known then. With --match keys objects are named by their identity, so that \
            the document can be applied on another device. That is impossible for an object whose key may have \
            changed, unless the history keeps old values.

            EXAMPLES:
              coral diff Before.sqlite After.sqlite
              coral diff backup.json Notes.sqlite --exclude Note.modifiedAt
              coral diff Mine.sqlite Yours.sqlite --key Note=id -o changes.json
              coral diff Notes.sqlite --since 1042 -o changes.json
            """)

    @Argument(help: "The old side: a store, or a document.", completion: .file())
    var old: InputDocument

    @Argument(help: "The new side: a store, or a document; - for standard input.", completion: .file())
    var new: InputDocument?

    @Option(
        name: .long,
        help: ArgumentHelp("Show the changes of one store since \(HistoryPoint.meaning).", valueName: "point"))
    var since: HistoryPoint?

    @Option(name: .long, help: "How objects are matched: by ids, by natural keys, or automatically.")
    var match: Match = .automatic

    @OptionGroup var keys: KeyOption

    @Option(
        name: .long, help: ArgumentHelp("Exclude an entity, or a property such as Note.body.", valueName: "name"),
        completion: Completion.properties)
    var exclude: [String] = []

    @OptionGroup var file: OutputFile

    @Flag(name: .long, help: "Print the differences as a JSON document.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        guard (new == nil) == (since != nil) else {
            throw ValidationError("Specify two sides, or one store and --since.")
        }
    }

    func run() throws {
        let stores = [old, new].compactMap { $0 }.filter(\.isStore).compactMap { $0.url?.path }
        if proof.proof, stores.isEmpty {
            throw CommandError("--proof compares the files of stores: both sides are documents.")
        }
        try proof.prove(stores, writing: file.url, body: diff)
    }

    private func diff() throws {
        let model = try chosenModel()
        var comparison = GraphComparison(model)
        comparison.naming = match.naming
        comparison.identity = try keys.identity(in: model)
        let exclusion = try DeltaExclusion(exclude, in: model)
        for name in exclude { comparison.shape.exclude(name) }
        comparison.folder = old.folder ?? new?.folder
        try file.requireFree(reading: old.url, new?.url, source.url)
        let delta = exclusion.applied(to: try compared(comparison, model))
        let unknown = delta.updatesWithUnknownKey
        StandardError.warn(
            unknown.map { "\($0) may have had another key, which the history does not contain: not applicable." },
            of: unknown.count)
        try write(delta)
        if !delta.isEmpty { throw CommandStatus.findings.exitCode }
    }

    private func compared(_ comparison: GraphComparison, _ model: NSManagedObjectModel) throws -> GraphDelta {
        if let new {
            let (before, after) = (try state(old, model), try state(new, model))
            return try Work.run("Comparing", noun: nil) {
                try comparison.delta(from: before, to: after, progress: $0)
            }
        }
        guard let since, old.isStore, let url = old.url else {
            throw CommandError("--since requires a store: a document has no history.")
        }
        let open = try OpenStore(url: url, model: model, modelPath: source.model)
        return try open.readingHistory {
            try Work.run("Comparing", noun: nil) { progress in
                if let date = since.date() {
                    return try comparison.delta(since: date, to: open.coordinator, progress: progress).delta
                }
                let token = try since.token(in: open)
                return try comparison.delta(since: token, to: open.coordinator, progress: progress).delta
            }
        }
    }

    private func write(_ delta: GraphDelta) throws {
        if file.url != nil {
            let format = try json ? .json : file.format(of: OutputFile.graphFormats, else: .json)
            try file.write(try delta.encoded(as: format))
            file.report(delta.summary)
        } else if json {
            try file.write(try delta.encoded(as: .json))
        } else {
            try StandardOutput.write(delta.isEmpty ? "The two sides are equal.\n" : DeltaReport.text(of: delta))
        }
    }

    // MARK: - Sides

    /// The given model, otherwise the cached model of the first side that is a store.
    private func chosenModel() throws -> NSManagedObjectModel {
        if let path = source.model { return try ModelSource.model(at: path).keepingStoredArchives() }
        guard let store = [old, new].compactMap({ $0 }).first(where: \.isStore)?.url else {
            throw CommandError("Neither side is a store: give the model of the documents with --model.")
        }
        return try ModelSource.ownModel(of: store.withoutLinks).keepingStoredArchives()
    }

    private func state(_ side: InputDocument, _ model: NSManagedObjectModel) throws -> GraphState {
        guard side.isStore, let url = side.url else { return .document(try side.source()) }
        guard source.model == nil, let own = try? ModelSource.ownModel(of: url.withoutLinks),
            own.entityVersionHashesByName != model.entityVersionHashesByName
        else { return .snapshot(try OpenStore(url: url, model: model, modelPath: source.model).snapshot()) }
        let (old, new) = (model.entityVersionHashesByName, own.entityVersionHashesByName)
        let names = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
        let list = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
        StandardError.report("The models of the stores differ in \(list); each store is read with its own model.")
        return .snapshot(try OpenStore(url: url, model: own).snapshot())
    }
}
