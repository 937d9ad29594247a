import ArgumentParser
import Coral
import CoralTools

/// `coral find`: the objects of all entities that contain a text.
struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Finds text in all values of a store.",
        discussion: """
            All attributes of all entities are searched: text, numbers and dates as they are written, elements of \
            composite values, values in archives, and binary values, also those in files of their own. Case and \
            diacritics are ignored, unless --match-case is given. Each object is shown with its display name, and the \
            part of each value around the first match. Names of entities and properties that contain the text are \
            listed, too.

            EXAMPLES:
              coral find Notes.sqlite milk
              coral find Notes.sqlite 'gr[ae]y' --regex --entity Note
              coral find Chat.sqlite 2024-02-29 --csv -o found.csv
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Argument(help: "The text to find.")
    var text: String

    @Option(
        name: .long, help: "Search the objects of this entity only. May be repeated.", completion: Completion.entities)
    var entity: [String] = []

    @Flag(name: .long, help: "The text is a regular expression.")
    var regex = false

    @Flag(name: .long, help: "Find the text only where it is a word of its own.")
    var wholeWord = false

    @Flag(name: .long, help: "Respect case and diacritics.")
    var matchCase = false

    @Option(name: .long, help: "The maximum number of objects to show.")
    var limit: Int?

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @Flag(name: .long, help: "Print CSV.")
    var csv = false

    @OptionGroup var file: OutputFile

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var label: LabelOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if json, csv { throw ValidationError("--json and --csv contradict each other.") }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }

    func run() throws { try proof.prove(store, writing: file.url, body: find) }

    private func find() throws {
        let matcher = try TextMatcher(text, isExpression: regex, matchesCase: matchCase, isWholeWord: wholeWord)
        let format: QueryCommand.Format =
            try json ? .json : csv ? .csv : file.format(of: ["csv": .csv, "tsv": .tsv, "json": .json], else: .table)
        let open = try OpenStore(path: store, model: source, labels: label)
        try file.requireFree(reading: open.url, source.url)
        let entities =
            try entity.isEmpty
            ? open.model.entities.filter { $0.superentity == nil } : entity.map { try open.entity(named: $0) }
        var output = try HitOutput(format, to: file)
        try open.context.performAndWait {
            try Work.run("Searching") { progress in
                progress.begin(try count(of: entities, in: open.context))
                do {
                    try TextSearch(matcher: matcher).forEachHit(in: entities, of: open.store, open.context, progress) {
                        try output.add($0)
                        if output.objectCount == limit { throw LimitReached() }
                    }
                } catch is LimitReached {}
            }
        }
        try output.finish()
        let names = self.names(matcher, entities)
        if !names.isEmpty { StandardError.report("In the model: \(names.joined(separator: ", "))") }
        let end = output.objectCount == limit ? "; --limit shows more" : ""
        StandardError.report(
            "\(Quantity.count(output.valueCount, "value")) of \(Quantity.count(output.objectCount, "object"))\(end)")
    }

    private struct LimitReached: Error {}

    private func count(of entities: [NSEntityDescription], in context: NSManagedObjectContext) throws -> Int {
        try entities.reduce(0) { count, entity in
            try count + context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity.name ?? ""))
        }
    }

    /// The names of entities, and of properties that they do not inherit, with the text.
    private func names(_ matcher: TextMatcher, _ entities: [NSEntityDescription]) -> [String] {
        Set(entities.flatMap(PlainSchema.hierarchy)).flatMap { entity -> [String] in
            let name = entity.name ?? ""
            let own = entity.propertiesByName.keys.filter { entity.superentity?.propertiesByName[$0] == nil }
            return (matcher.range(in: name) == nil ? [] : [name])
                + own.filter { matcher.range(in: $0) != nil }.map { "\(name).\($0)" }
        }.sorted()
    }
}

/// Writes found objects one by one, as text grouped by object, CSV, TSV or JSON.
struct HitOutput {
    private let format: QueryCommand.Format
    private let output: ByteOutput
    private let isFile: Bool
    private var table: TableWriter
    private var json: JSONWriter?
    private(set) var objectCount = 0
    private(set) var valueCount = 0

    init(_ format: QueryCommand.Format, to file: OutputFile) throws {
        self.format = format
        isFile = file.url != nil
        output = ByteOutput(to: try file.sink())
        table = TableWriter(format.form ?? .csv, to: output)
        switch format {
        case .table: break
        case .csv, .tsv: try table.line(["object", "label", "attribute", "excerpt"])
        case .json:
            var writer = JSONWriter(to: output)
            try writer.beginArray()
            json = writer
        }
    }

    mutating func add(_ hit: TextSearch.Hit) throws {
        objectCount += 1
        valueCount += hit.values.count
        switch format {
        case .table:
            var text = style(.bold, hit.name) + (hit.label.map { "  \($0)" } ?? "") + "\n"
            for (path, excerpt) in hit.values {
                text += "  \(path): \(excerpt.before)\(style(.red, excerpt.match))\(excerpt.after)\n"
            }
            try isFile ? output.write(text) : StandardOutput.write(text)
        case .csv, .tsv:
            for (path, excerpt) in hit.values { try table.line([hit.name, hit.label ?? "", path, excerpt.text]) }
        case .json: try addJSON(hit)
        }
    }

    private func style(_ style: TextStyle, _ text: String) -> String { isFile ? text : style.text(text) }

    private mutating func addJSON(_ hit: TextSearch.Hit) throws {
        guard var writer = json else { return }
        try writer.lineBreak()
        try writer.beginObject()
        try writer.key("id")
        try writer.string(hit.name)
        try writer.key("label")
        if let label = hit.label { try writer.string(label) } else { try writer.null() }
        try writer.key("values")
        try writer.beginArray()
        for (path, excerpt) in hit.values {
            try writer.beginObject()
            try writer.key("attribute")
            try writer.string(path)
            try writer.key("excerpt")
            try writer.string(excerpt.text)
            try writer.endObject()
        }
        try writer.endArray()
        try writer.endObject()
        json = writer
    }

    mutating func finish() throws {
        if var writer = json {
            try writer.endLine()
            try writer.endArray()
            try writer.endLine()
            json = writer
        }
        try output.finish()
    }
}
