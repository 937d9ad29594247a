import ArgumentParser
import Coral

/// `coral query`: shows the objects that match a predicate.
struct QueryCommand: ParsableCommand {
    /// The output format.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, csv, tsv, json

        /// The form of a document with tables; nil for the others.
        var form: TableForm? { TableForm(rawValue: rawValue) }
    }

    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Shows the objects that match a predicate.",
        discussion: """
            Predicates have Core Data's syntax: 'title BEGINSWITH[c] "g" AND items.@count > 2'. Dates, UUIDs and URLs \
            are written as text: 'createdAt > "2024-02-29"' (in UTC, unless a time zone is given). Columns are key \
            paths, including those through relationships: author.name, tags.name (all names), items.@count. A * in a \
            column stands for any letters: '*Date', 'author.*'.

            Without --columns all attributes are shown, except binary and transformable ones. The destinations of \
            to-one relationships are shown, and the numbers of members of to-many ones. A table begins with what \
            names the objects. Then come the columns in which the first 100 objects differ, those that are the same \
            in all of them, those without a value, and identifiers at the end. CSV, TSV and JSON have the columns in \
            the order of their names.

            Dates are written as ISO 8601, in the calendar of Foundation's formatters: Date.distantPast is \
            0001-01-01T00:00:00.000Z. A date outside the years 1 to 9999 is @ and the seconds since 2001-01-01: \
            @252423993600.0.

            A table truncates long values; CSV (RFC 4180), TSV (the same with tabs) and JSON contain them completely. CSV \
            and TSV join several values with "; ". A spreadsheet evaluates text that begins with =, +, - or @ as a formula: --csv-safe puts an \
            apostrophe before such text.

            Without --entity, the entities that have objects are listed, with their numbers of objects.

            EXAMPLES:
              coral query Notes.sqlite
              coral query Notes.sqlite --entity Note
              coral query Notes.sqlite --entity Note --where 'rank > 3' --sort rank --json
              coral query Notes.sqlite --entity Note --columns title,tags.name -o notes.csv
              coral query Notes.sqlite --entity Note --columns title,rank --format tsv
              coral query Notes.sqlite --entity Note --where 'rank > 3' --count
              coral query Notes.sqlite --entity Note --columns 'title,*At,author.*'
              coral query Notes.sqlite --entity Note --where 'createdAt > "2024-02-29"' \\
                --time-zone Europe/Berlin --csv
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Option(
        name: .long, help: "The entity of the objects. Without it, entities that have objects are listed.",
        completion: Completion.entities)
    var entity: String?

    @OptionGroup var condition: ObjectCondition

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The key paths to sort by, such as rank:descending,title. Default: by primary key.", valueName: "keys"),
        completion: Completion.keyPaths)
    var sort: String?

    @Option(
        name: .long, help: ArgumentHelp("The key paths to show.", valueName: "keys"), completion: Completion.keyPaths)
    var columns: String?

    @Flag(name: .long, help: "Print only the number of objects that match.")
    var count = false

    @Option(name: .long, help: "The maximum number of objects to show.")
    var limit: Int?

    @Option(name: .long, help: "The number of objects to skip at the beginning.")
    var offset = 0

    @Option(
        name: .long,
        help: "The output format. Default: that of the file's extension, or CSV for a file and a table otherwise.")
    var format: Format?

    @Flag(name: .long, help: "Print JSON, like --format json.")
    var json = false

    @Flag(name: .long, help: "Print CSV, like --format csv.")
    var csv = false

    @OptionGroup var zone: TimeZoneOption

    @Flag(
        name: .long,
        help: "In CSV and TSV, put an apostrophe before text that a spreadsheet would evaluate as a formula.")
    var csvSafe = false

    @OptionGroup var file: OutputFile

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var label: LabelOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if csvSafe, try chosenFormat().form == nil { throw ValidationError("--csv-safe requires --format csv or tsv.") }
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative: \(limit).") }
        if offset < 0 { throw ValidationError("--offset must not be negative: \(offset).") }
        if json, csv { throw ValidationError("--json and --csv contradict each other.") }
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) contradict each other.")
        }
        if csv, let format, format != .csv {
            throw ValidationError("--csv and --format \(format.rawValue) contradict each other.")
        }
        let isLimited = limit != nil || offset != 0
        if entity == nil, condition.predicate != nil || columns != nil || sort != nil || isLimited || count {
            throw ValidationError("--where, --columns, --sort, --count, --limit and --offset require --entity.")
        }
        if count, columns != nil || sort != nil || format != nil || json || csv {
            throw ValidationError("--count prints a number: it has no columns, order or format.")
        }
    }

    func run() throws { try proof.prove(store, writing: file.url, body: query) }

    private func query() throws {
        let format = try chosenFormat()
        let open = try OpenStore(path: store, model: source, labels: label)
        try file.requireFree(reading: open.url, source.url)
        guard let entity else { return try list(open, as: format) }
        let description = try open.entity(named: entity)
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = try condition.predicate(for: description, in: zone.zone)
        request.fetchOffset = offset
        if let limit { request.fetchLimit = limit }
        if limit == 0 { request.predicate = NSPredicate(value: false) }
        if count {
            let number = try open.context.performAndWait { try open.context.count(for: request) }
            return try write("\(number)\n", as: .table)
        }
        let columns =
            try self.columns.map { try QueryColumn.columns($0, of: description) }
            ?? standardColumns(of: description, in: open, as: format)
        request.sortDescriptors = try sort.map { try QuerySort.descriptors($0, for: description) }
        request.relationshipKeyPathsForPrefetching = Array(Set(columns.compactMap(\.prefetching))).sorted()
        try open.context.performAndWait {
            var answer = QueryAnswer(entity: description, columns: columns, escapesFormulas: csvSafe)
            answer.zone = zone.zone
            let rows = { (progress: Progress, body: (QueryRow) throws -> Void) in
                try ObjectStream(of: request, isSorted: sort != nil, in: open.context)
                    .forEachRow(columns, in: open.store, progress, body)
            }
            let count: Int
            if format == .table, file.url == nil {
                // A bar would be drawn over the table.
                count =
                    try Terminal.isConnected(.output)
                    ? show(answer, rows, .discreteProgress(totalUnitCount: 0))
                    : Work.run("Reading") { try show(answer, rows, $0) }
            } else {
                count = try Work.run("Reading") { try write(answer, rows, as: format, $0) }
            }
            file.report(Quantity.count(count, "object"))
        }
    }

    private func standardColumns(
        of entity: NSEntityDescription, in open: OpenStore, as format: Format
    ) throws -> [QueryColumn] {
        guard format == .table else { return QueryColumn.standardColumns(of: entity) }
        return try open.context.performAndWait { try ColumnUse.columns(of: entity, in: open.store, open.context) }
    }

    /// Passes each object to its argument, and returns the number of objects.
    private typealias Rows = (Progress, (QueryRow) throws -> Void) throws -> Int

    /// Shows a table while the objects are read, and returns their number.
    private func show(_ answer: QueryAnswer, _ rows: Rows, _ progress: Progress) throws -> Int {
        guard Terminal.isConnected(.output) else { return try write(answer, rows, as: .table, progress) }
        let pager = Pager()
        var count = 0
        do {
            count = try writeTable(answer, rows, progress, pager.add)
        } catch is Pager.Ended {}
        try pager.finish()
        return count
    }

    private func writeTable(
        _ answer: QueryAnswer, _ rows: Rows, _ progress: Progress, _ write: @escaping (String) throws -> Void
    ) throws -> Int {
        var table = TableStream(answer.columns.map(\.title), write: write)
        let count = try rows(progress) { try table.add(answer.tableCells($0.cells())) }
        if count == 0 {
            try write("No \(answer.entity.name ?? "object") found.\n")
        } else {
            try table.finish()
        }
        return count
    }

    /// Writes a document while the objects are read, and returns their number.
    private func write(
        _ answer: QueryAnswer, _ rows: Rows, as format: Format, _ progress: Progress
    ) throws -> Int {
        let output = ByteOutput(to: try file.sink())
        let count: Int
        if format == .table {
            var pace = PacedOutput(output)
            count = try writeTable(answer, rows, progress) {
                try output.write(Terminal.text($0, on: .output))
                try pace.written()
            }
        } else {
            var document = try QueryDocument(answer, as: format, to: output)
            count = try rows(progress) { try document.write($0) }
            try document.finish()
        }
        try output.finish()
        return count
    }

    /// Lists the entities that have objects.
    private func list(_ open: OpenStore, as format: Format) throws {
        let counts = try EntityCounts(open).counts.filter { $0.count > 0 }
        if let form = format.form {
            let output = ByteOutput(to: try file.sink())
            var table = TableWriter(form, to: output)
            try table.line(["entity", "count"])
            for entity in counts { try table.line([entity.name, "\(entity.count)"]) }
            return try output.finish()
        }
        guard format == .table else { return try write(JSONOutput.text(of: counts), as: format) }
        var table = TextTable([("Entity", .leading), ("Objects", .trailing)])
        for entity in counts { table.add([entity.name, "\(entity.count)"]) }
        try write(counts.isEmpty ? "The store has no objects.\n" : table.text, as: format)
    }

    private func write(_ text: String, as format: Format) throws {
        try format == .table && file.url == nil ? Pager.write(text) : file.write(text)
    }

    /// The format of the options.
    private var requestedFormat: Format? { json ? .json : csv ? .csv : format }

    /// The requested format, otherwise that of the file's extension. A file contains the whole values.
    private func chosenFormat() throws -> Format {
        try requestedFormat
            ?? file.format(of: ["csv": .csv, "tsv": .tsv, "json": .json], else: file.url == nil ? .table : .csv)
    }
}

/// The value of `--sort`.
enum QuerySort {
    /// Throws `CommandError` with the position of an invalid key path.
    static func descriptors(_ text: String, for entity: NSEntityDescription) throws -> [NSSortDescriptor] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let words = part.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            let key = words[0]
            if key.contains("@") {
                throw CommandError("Objects are sorted by attributes, not by \(key)." + Caret.below([key], in: text))
            }
            let keys = KeyPathCheck.keys(of: key)
            try KeyPathCheck(entity).check(keys, in: text)
            try refuseToMany(keys, of: entity, in: text)
            switch words.dropFirst().first {
            case nil, "ascending", "asc": return NSSortDescriptor(key: key, ascending: true)
            case "descending", "desc": return NSSortDescriptor(key: key, ascending: false)
            case let word?:
                throw CommandError(
                    "Objects are sorted ascending or descending, not \"\(word)\"." + Caret.below([word], in: text))
            }
        }
    }

    private static func refuseToMany(_ keys: [String], of entity: NSEntityDescription, in text: String) throws {
        var here = entity
        for (index, key) in keys.enumerated() {
            guard let relationship = here.relationshipsByName[key], let next = relationship.destinationEntity else {
                return
            }
            if relationship.isToMany {
                throw CommandError(
                    "\(here.name ?? "").\(key) is a to-many relationship, which has no single value to sort by."
                        + Caret.below(Array(keys[...index]), in: text))
            }
            here = next
        }
        throw CommandError("\"\(keys.joined(separator: "."))\" is an object; sort by an attribute of it.")
    }
}
