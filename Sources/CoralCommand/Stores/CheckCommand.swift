import ArgumentParser
import AtomicFiles
import Coral
import CoralTools

/// `coral check`: finds problems of a store.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a store for problems, and repairs them in a copy.",
        discussion: """
            The check reports damage to the file, dangling references, disagreeing inverses, missing and unused files \
            of large values, primary keys beyond the last assigned one, values of a wrong type, values that violate \
            the model's validation rules, and duplicates of values that must be unique. Exit code 2 means that \
            problems were found. SQLite keeps no checksums of values, so that only a backup proves that they are the same \
            (coral diff). In a store in PostgreSQL, the tables, their indexes and the numbers of the history \
            are checked.

            With --repair a copy of the store is made and repaired: tables and columns that the model requires are \
            added, with default values, dangling references are cleared, inverses are set, key counters are raised, and \
            optional values whose files are missing are cleared. Problems whose correct repair cannot be determined are \
            not repaired. The store itself is not changed. The copy of a store in PostgreSQL is in another schema of its \
            database.

            EXAMPLES:
              coral check Notes.sqlite
              coral check Notes.sqlite --repair Repaired.sqlite
              coral check Notes.sqlite --json
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Option(
        name: .long, help: ArgumentHelp("Make a copy of the store here, and repair it.", valueName: "store"),
        completion: Completion.stores)
    var `repair`: String?

    @Flag(name: .long, help: "Replace an existing copy without asking.")
    var force = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var quiet: QuietOption

    @OptionGroup var proof: ProofOption

    @OptionGroup var source: ModelSource

    func run() throws { try proof.prove(store, writing: `repair`.map { URL(fileURLWithPath: $0) }, body: check) }

    private func check() throws {
        let url = try OpenStore.location(at: store)
        let model = try source.givenModel()
        let open: OpenStore
        do {
            // Opening the store rejects a model of another store, with the reason.
            open = try OpenStore(
                url: url, model: model ?? ModelSource.ownModel(of: url.withoutLinks), modelPath: source.model)
        } catch {
            // A store that cannot be opened cannot be copied.
            guard `repair` == nil, !ForeignFile.isDatabase(error), let damage = StoreProblem(damage: error) else {
                throw error
            }
            try show(CheckReport(store: ServerURLs.shown(store), problems: [damage]))
            throw CommandStatus.findings.exitCode
        }
        guard let `repair` else {
            let check = StoreCheck(url: open.url, model: open.model)
            let problems = try Work.run("Checking") { try check.problems(of: open.snapshot(), progress: $0) }
            try show(CheckReport(store: ServerURLs.shown(store), problems: problems))
            if !problems.isEmpty { throw CommandStatus.findings.exitCode }
            return
        }
        let (problems, left) = try repaired(open, to: `repair`)
        try show(
            CheckReport(
                store: ServerURLs.shown(store), problems: problems, copy: ServerURLs.shown(`repair`), left: left))
        if !left.isEmpty { throw CommandStatus.findings.exitCode }
    }

    /// Copies the store, checks the copy and repairs it: what is reported and what is repaired is one state, even while
    /// other processes write to the store.
    ///
    /// - Returns: The problems of the copy, and those that remain after the repair.
    private func repaired(
        _ open: OpenStore, to path: String
    ) throws -> (problems: [StoreProblem], left: [StoreProblem]) {
        #if !STORE_ENGINE
            throw CommandError(
                "On this system the rows of a store cannot be accessed: it can be checked, but not repaired.")
        #else
            let destination = URL(storeAt: path)
            guard destination.isOfServer == open.url.isOfServer else {
                throw CommandError(
                    "--repair copies a file to a file, and a store in PostgreSQL to another schema of its database.")
            }
            if destination == open.url
                || FileStatus(path).map({ FileStatus(open.url.path)?.isSame(as: $0) == true }) == true
            {
                throw CommandError("--repair requires the location of a copy, not the store itself.")
            }
            // A store on a server is never replaced.
            let occupant =
                try destination.isFileURL
                ? Confirmation.occupant(path, reading: [open.url, source.url], isForced: force) : .nothing
            try StandardOutput.requireOpen()
            return try Work.run("Repairing") { progress in
                try StoreCreation.makeStore(
                    at: destination, model: open.model, replacing: occupant
                ) { copy in
                    try open.coordinator.replacePersistentStore(
                        at: copy, destinationOptions: nil, withPersistentStoreFrom: open.url, sourceOptions: nil,
                        ofType: copy.storeType)
                    let check = StoreCheck(url: copy, model: open.model)
                    return (try check.problems(progress: progress), try check.repair(progress: progress))
                }
            }
        #endif
    }

    private func show(_ report: CheckReport) throws {
        guard report.copy != nil else {
            return try json ? JSONOutput.write(report) : StandardOutput.write(report.text)
        }
        try json ? JSONOutput.report(report) : StandardOutput.report(report.text)
    }
}

/// The output of `coral check`.
private struct CheckReport: Encodable {
    struct Problem: Encodable {
        var code: String
        var entity: String?
        var property: String?
        var count: Int
        var examples: [String]
        var message: String
        var isRepairable: Bool

        init(_ problem: StoreProblem) {
            code = problem.code.rawValue
            entity = problem.entity.isEmpty ? nil : problem.entity
            property = problem.property
            count = problem.count
            examples = problem.examples
            message = problem.message
            isRepairable = problem.isRepairable
        }

        var text: String {
            let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
            let more = count > examples.count ? ", …" : ""
            let exampleLines = examples.isEmpty ? "" : "\n    \(examples.joined(separator: ", "))\(more)"
            let number = TextStyle.red.text("\(Quantity.grouped(count))×")
            return "\(number) \(subject.isEmpty ? "" : subject + ": ")\(message)"
                + (isRepairable ? TextStyle.faint.text(" (can be repaired)") : "") + exampleLines + "\n"
        }
    }

    var store: String
    var problems: [Problem]
    /// The path of the repaired copy, and its remaining problems.
    var copy: String?
    var left: [Problem]?

    init(store: String, problems: [StoreProblem], copy: String? = nil, left: [StoreProblem]? = nil) {
        self.store = store
        self.problems = problems.map(Problem.init)
        self.copy = copy
        self.left = left?.map(Problem.init)
    }

    var text: String {
        guard !problems.isEmpty else {
            return "No problems were found in \(store).\n" + (copy.map { "The copy is at \($0).\n" } ?? "")
        }
        var text = problems.map(\.text).joined()
        let total = problems.reduce(0) { $0 + $1.count }
        text += Quantity.count(total, "problem")
        if problems.count > 1 { text += " of \(problems.count) kinds" }
        let repairable = problems.reduce(0) { $0 + ($1.isRepairable ? $1.count : 0) }
        guard let copy, let left else {
            return text
                + (repairable > 0 ? ", of which --repair repairs \(Quantity.grouped(repairable)) in a copy.\n" : ".\n")
        }
        text += ".\nThe copy is at \(copy). "
        guard !left.isEmpty else { return text + "It has no problems.\n" }
        return text + "Remaining problems:\n" + left.map(\.text).joined()
    }
}
