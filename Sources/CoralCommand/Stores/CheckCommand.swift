import ArgumentParser
import AtomicFiles
import Coral

/// `coral check`: what is wrong with a store.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Looks for what is wrong with a store, and puts it right in a copy.",
        discussion: """
            Looked for are: damage to the file, references to objects that do not exist, inverses that disagree, missing and \
            unused files of large values, primary keys beyond the last one given out, values of a wrong type, values that \
            the model forbids, and values that should be unique. Exit code 2 says that something was found.

            With --repair a copy of the store is made and put right as far as can be: references to nothing are cleared, \
            inverses made to agree, counters raised, optional values whose files are gone cleared. The store itself stays \
            as it is. What needs a decision stays for you.

            EXAMPLES:
              coral check Notes.sqlite
              coral check Notes.sqlite --repair Repaired.sqlite
              coral check Notes.sqlite --json
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Option(
        name: .long, help: ArgumentHelp("Make a copy of the store here, and put it right.", valueName: "store"),
        completion: Completion.stores)
    var `repair`: String?

    @Flag(name: .long, help: "Replace the copy if there is one, without asking.")
    var force = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var source: ModelSource

    func run() throws {
        // Opened, so that a model of another store is refused with its reason.
        let open = try OpenStore(path: store, model: source)
        let check = StoreCheck(url: open.url, model: open.model)
        let problems = try Work.run("Checking") { try check.problems(of: open.snapshot(), progress: $0) }
        guard let `repair` else {
            try show(CheckReport(store: store, problems: problems))
            if !problems.isEmpty { throw CommandStatus.findings.exitCode }
            return
        }
        let left = try repaired(open, to: `repair`)
        try show(CheckReport(store: store, problems: problems, copy: `repair`, left: left))
        if !left.isEmpty { throw CommandStatus.findings.exitCode }
    }

    private func repaired(_ open: OpenStore, to path: String) throws -> [StoreProblem] {
        #if canImport(Darwin) || CORAL_PUBLIC_API
            throw CommandError(
                "On this system the rows of a store cannot be reached: it can be checked, not put right.")
        #else
            if let place = FileStatus(path), FileStatus(open.url.path)?.isSame(as: place) == true {
                throw CommandError("--repair wants the place of a copy, not the store itself.")
            }
            try Confirmation.requireFree(path, for: .store, reading: [open.url, source.url], isForced: force)
            try StandardOutput.requireOpen()
            // That a file which is there may be replaced has been asked; one that comes later is not.
            let occupant: StoreCreation.Occupant = force || FileStatus(path) != nil ? .file : .nothing
            return try Work.run("Repairing") { progress in
                try StoreCreation.makeStore(
                    at: URL(fileURLWithPath: path), model: open.model, replacing: occupant
                ) { copy in
                    try open.coordinator.replacePersistentStore(
                        at: copy, destinationOptions: nil, withPersistentStoreFrom: open.url, sourceOptions: nil,
                        ofType: NSSQLiteStoreType)
                    return try StoreCheck(url: copy, model: open.model).repair(progress: progress)
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

/// What `coral check` shows.
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
            let places = examples.isEmpty ? "" : "\n    \(examples.joined(separator: ", "))\(more)"
            let number = TextStyle.red.text("\(Quantity.grouped(count))×")
            return "\(number) \(subject.isEmpty ? "" : subject + ": ")\(message)"
                + (isRepairable ? TextStyle.faint.text(" (can be repaired)") : "") + places + "\n"
        }
    }

    var store: String
    var problems: [Problem]
    /// The copy that was put right, and what is still wrong with it.
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
            return "Nothing is wrong with \(store).\n" + (copy.map { "The copy is at \($0).\n" } ?? "")
        }
        var text = problems.map(\.text).joined()
        text += "\(Quantity.count(problems.count, "problem"))"
        let repairable = problems.count { $0.isRepairable }
        guard let copy, let left else {
            return text + (repairable > 0 ? ", of which --repair puts right \(repairable) in a copy.\n" : ".\n")
        }
        text += ".\nThe copy is at \(copy). "
        guard !left.isEmpty else { return text + "Nothing is wrong with it.\n" }
        return text + "Still wrong with it:\n" + left.map(\.text).joined()
    }
}
