import ArgumentParser
import Coral

/// `coral copy`: copies objects and what they own inside a store.
struct CopyCommand: ParsableCommand {
    /// The rules for relationships without directives in the model.
    enum Rules: String, ExpressibleByArgument, CaseIterable {
        case ownership, everything
        case moCloner = "mocloner"

        var shape: GraphShape {
            switch self {
            case .ownership: .ownership
            case .everything: .everything
            case .moCloner: .moCloner
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copies objects inside a store, with those they own. Writes to the store.",
        discussion: """
            Every object is copied once, and references to a copied object are replaced by references to its copy. \
            Directives in the model's user info are applied: exclude, rebuild, followParent, withoutParent, \
            coral.copy. For other relationships --rules decides: ownership copies along cascading relationships and \
            links to other objects, everything copies all reachable objects, mocloner links if the inverse is to-many \
            and copies otherwise.

            In attributes that must be unique, text gets the suffix " copy", UUIDs are generated, and numbers are an \
            error unless --count-up is given.

            The copies are saved in one transaction, which is rolled back on an error. The output is the map from \
            originals to copies. A backup of the store is made before.

            EXAMPLES:
              coral copy Notes.sqlite --entity Note --where 'title == "Groceries"' \\
                --dry-run
              coral copy Notes.sqlite --entity Note --copy Note.tags --exclude Note.author
            """)

    @Argument(help: "The store. It is changed, unless --dry-run is given.", completion: Completion.stores)
    var store: String

    @Option(name: .long, help: "The entity of the objects to copy.", completion: Completion.entities)
    var entity: String

    @OptionGroup var condition: ObjectCondition

    @Option(name: .long, help: "The rules for the objects that belong to an object.")
    var rules: Rules = .ownership

    @Option(
        name: .long, help: ArgumentHelp("Copy a relationship's destinations.", valueName: "Entity.relationship"),
        completion: Completion.properties)
    var copy: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("Link to a relationship's destinations.", valueName: "Entity.relationship"),
        completion: Completion.properties)
    var link: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("Exclude an entity, or a property such as Note.body.", valueName: "name"),
        completion: Completion.properties)
    var exclude: [String] = []

    @Flag(name: .long, help: "Set integers that must be unique to the next free number.")
    var countUp = false

    @Flag(name: .long, help: "Show the copies that would be made, and change nothing.")
    var dryRun = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var backup: BackupOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func run() throws {
        let open = try OpenStore(path: store, model: source, isReadOnly: dryRun)
        try open.context.performAndWait {
            let originals = try condition.objects(of: entity, in: open)
            guard !originals.isEmpty || json else {
                return try StandardOutput.write("Nothing to copy: no object matches.\n")
            }
            var rules = CopyRules()
            rules.countsUpNumbers = countUp
            let copier = GraphCopier(shape: shape, rules: rules)
            if dryRun { return try show(try Work.run("Looking") { try copier.plan(originals, progress: $0) }) }
            let copies = try Work.run("Copying") { try copier.copy(originals, progress: $0) }
            try backup.save(open)
            try show(copies)
        }
        try open.close()
    }

    private var shape: GraphShape {
        var shape = rules.shape
        for name in copy { shape.set(name, .embed) }
        for name in link { shape.set(name, .reference) }
        for name in exclude { shape.exclude(name) }
        return shape
    }

    // MARK: - Output

    private func show(_ map: CopyMap) throws {
        let pairs = map.map {
            CopyReport.Pair(original: StoredName($0.original).text, copy: StoredName($0.copy.objectID).text)
        }
        try show(
            CopyReport(
                isSaved: true, summary: "\(Quantity.count(pairs.count, "object")) copied", copies: pairs,
                omissions: map.omissions.map(\.description), omissionCount: map.omissions.count))
    }

    private func show(_ plan: CopyPlan) throws {
        let pairs = plan.originals.map { CopyReport.Pair(original: StoredName($0).text, copy: nil) }
        try show(
            CopyReport(
                isSaved: false, summary: plan.summary, copies: pairs, omissions: plan.omissions.map(\.description),
                omissionCount: plan.omissions.count))
    }

    private func show(_ report: CopyReport) throws {
        StandardError.warn(report.omissions.map(StoredName.shortened), of: report.omissionCount)
        if json { return try report.isSaved ? JSONOutput.report(report) : JSONOutput.write(report) }
        var lines = report.copies.map { pair in pair.copy.map { "\(pair.original) -> \($0)" } ?? pair.original }
        lines.append(report.isSaved ? report.summary : "Would copy \(report.summary)")
        let text = lines.map { $0 + "\n" }.joined()
        try report.isSaved ? StandardOutput.report(text) : StandardOutput.write(text)
    }
}

/// The output of `coral copy --json`.
private struct CopyReport: Encodable {
    struct Pair: Encodable {
        var original: String
        var copy: String?
    }

    var isSaved: Bool
    var summary: String
    var copies: [Pair]
    var omissions: [String]
    var omissionCount: Int
}
