import ArgumentParser
import AtomicFiles
import Coral
import CoralTools

/// `coral export`: writes a store, or part of one, as a document.
struct ExportCommand: ParsableCommand {
    /// The layout of records.
    enum Layout: String, ExpressibleByArgument, CaseIterable {
        case flat, nested, plain
    }

    /// The part of the graph that is exported with the requested objects.
    enum Follow: String, ExpressibleByArgument, CaseIterable {
        case owned, everything, nothing

        var base: GraphShape.Base {
            switch self {
            case .owned: .ownership
            case .everything: .everything
            case .nothing: .roots
            }
        }
    }

    /// The form of dates in the plain layout.
    enum PlainDates: String, ExpressibleByArgument, CaseIterable {
        case exact, milliseconds
    }

    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes a store, or part of one, to a document.",
        discussion: """
            Without --entity the whole store is written. With it, the objects of that entity that match the predicate \
            are written, and the related objects according to --follow: those that they own (through cascading \
            relationships), everything, or nothing.

            The format html is a single page for a browser: the objects, with links along their relationships, at \
            most 100,000. It cannot be imported again; all other formats can.

            The formats csv and tsv are folders of tables: a file for each entity, Note.csv, and one for each relationship \
            that no column expresses, Note.tags.csv. The first column has the name of the object, Note/p1, with which others \
            refer to it.

            Large values may be in files in a hidden folder beside the store. If such a file does not exist, the \
            document contains its name, and the exit code is 2: see --missing-files.

            EXAMPLES:
              coral export Notes.sqlite -o notes.json
              coral export Notes.sqlite --format jsonl | grep Groceries
              coral export Notes.sqlite --entity Note --where 'rank > 3' --layout nested
              coral export Notes.sqlite --layout plain --key Note=id --key Tag=name
              coral export Notes.sqlite --format html -o notes.html
              coral export Notes.sqlite --format csv -o tables
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @OptionGroup var file: OutputFile

    @Option(name: .long, help: "The format of the document. Default: that of the file's extension, or json.")
    var format: ExportFormat?

    @Option(name: .long, help: "The layout of records.")
    var layout: Layout?

    @Option(
        name: .long, help: "Only objects of this entity, and those that --follow adds.",
        completion: Completion.entities)
    var entity: String?

    @OptionGroup var condition: ObjectCondition

    @Option(name: .long, help: "The related objects to export with those of --entity.")
    var follow: Follow?

    @Option(
        name: .long, help: ArgumentHelp("Exclude an entity, or a property such as Note.body.", valueName: "name"),
        completion: Completion.properties)
    var exclude: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Write binary values of at least this size to separate files, in a folder beside the document.",
            valueName: "bytes"))
    var filesFrom: Int?

    @Flag(name: .long, help: "In tables, put an apostrophe before text that a spreadsheet would evaluate as a formula.")
    var csvSafe = false

    @OptionGroup var missing: MissingFilesOption

    @Option(name: .long, help: "The form of dates in the plain layout: exact or milliseconds.")
    var dates: PlainDates = .exact

    @OptionGroup var meaning: DocumentMeaning

    @OptionGroup var quiet: QuietOption

    @OptionGroup var proof: ProofOption

    @OptionGroup var label: LabelOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if condition.predicate != nil, entity == nil {
            throw ValidationError("--where requires --entity.")
        }
        if csvSafe, format?.tables == nil { throw ValidationError("--csv-safe requires --format csv or tsv.") }
        if let filesFrom {
            guard filesFrom > 0 else { throw ValidationError("--files-from requires a positive number of bytes.") }
            guard file.url != nil, entity == nil else {
                throw ValidationError("--files-from requires --output and a whole store.")
            }
        }
    }

    func run() throws { try proof.prove(store, writing: file.url, body: export) }

    private func export() throws {
        let open = try OpenStore(path: store, model: source, labels: label)
        let chosen = try chosenFormat()
        if !label.label.isEmpty, !chosen.isPage { throw CommandError("--label requires --format html.") }
        let request = try request(open)
        if let form = chosen.tables { return try exportTables(open, request, as: form) }
        let layout = try chosenLayout(chosen)
        try file.requireFree(reading: open.url, source.url)
        let sink = try filesFrom == nil ? file.sink() : nil
        var exporter = GraphExporter(layout: layout, shape: chosenPart)
        exporter.identity = try meaning.keys.identity(in: open.coordinator.managedObjectModel)
        exporter.mapping = try meaning.mapping(of: open.coordinator.managedObjectModel)
        if case .graph(let format) = chosen { exporter.format = format }
        exporter.externalFileThreshold = filesFrom
        exporter.missingFiles = missing.missingFiles
        exporter.roundsDatesToMilliseconds = dates != .exact
        let result = try Work.run("Exporting") { [exporter] progress in
            guard let sink else { return try writeWithFiles(open, as: chosen, with: exporter, progress) }
            return switch chosen {
            case .html: try writePage(open, request, to: sink, progress)
            case .graph, .tables: try write(open, request, with: exporter, to: sink, progress)
            }
        }
        report(result, of: request)
        try missing.report(result)
    }

    /// The request of `--entity` and `--where`; nil for the whole store.
    private func request(_ open: OpenStore) throws -> NSFetchRequest<NSManagedObjectID>? {
        guard let entity else { return nil }
        let description = try open.entity(named: entity)
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        request.predicate = try condition.predicate(for: description)
        return request
    }

    private func write(
        _ open: OpenStore, _ request: NSFetchRequest<NSManagedObjectID>?, with exporter: GraphExporter,
        to sink: any ByteSink, _ progress: Progress
    ) throws -> ExportResult {
        guard let request else { return try exporter.exportStore(of: open.snapshot(), to: sink, progress: progress) }
        return try open.context.performAndWait {
            try exporter.export(request, in: open.context, to: sink, progress: progress)
        }
    }

    private func writeWithFiles(
        _ open: OpenStore, as format: ExportFormat, with exporter: GraphExporter, _ progress: Progress
    ) throws -> ExportResult {
        guard let url = file.url, case .graph = format else {
            throw CommandError("An HTML page has no external files: --files-from cannot be combined with it.")
        }
        return try exporter.exportStore(of: open.snapshot(), to: url, progress: progress)
    }

    private func writePage(
        _ open: OpenStore, _ request: NSFetchRequest<NSManagedObjectID>?, to sink: any ByteSink, _ progress: Progress
    ) throws -> ExportResult {
        var page = StorePage(shape: chosenPart)
        page.title = open.url.lastPathComponent
        page.missingFiles = missing.missingFiles
        do {
            guard let request else { return try page.exportStore(of: open.snapshot(), to: sink, progress: progress) }
            return try open.context.performAndWait {
                try page.export(request, in: open.context, to: sink, progress: progress)
            }
        } catch let error as PageError where error.code == .tooManyObjects {
            throw CommandError(
                "An HTML page of more than \(Quantity.grouped(page.objectLimit)) objects is not shown by browsers. Browse the store "
                    + "with coral serve, choose objects with --entity and --where, or write tables with --format csv.")
        }
    }

    /// Writes a folder of tables, completely or not at all.
    private func exportTables(
        _ open: OpenStore, _ request: NSFetchRequest<NSManagedObjectID>?, as form: TableForm
    ) throws {
        guard layout == nil, filesFrom == nil else {
            throw CommandError("Tables have their own layout: --layout and --files-from cannot be combined with them.")
        }
        let folder = try tableFolder(form)
        let partial = try PartialFolder(for: folder)
        try FileManager.default.createDirectory(at: partial.item, withIntermediateDirectories: false)
        var exporter = GraphExporter(layout: .flat, shape: chosenPart)
        exporter.missingFiles = missing.missingFiles
        let tables = TableFolderWriter(to: partial.item, model: open.model, form: form, escapesFormulas: csvSafe)
        var writer: any GraphWriter = RecordCollector(tables.write)
        let result = try Work.run("Exporting") { [exporter] progress in
            guard let request else {
                return try exporter.exportStore(of: open.snapshot()) {
                    try $0.exportStore(to: &writer, progress: progress)
                }
            }
            return try open.context.performAndWait {
                request.resultType = .managedObjectIDResultType
                let ids = try open.context.fetch(request)
                let session = try ExportSession(exporter, context: open.context, store: open.store)
                return try session.export(from: ids, to: &writer, progress: progress)
            }
        }
        try tables.finish()
        // An empty folder is replaced too.
        try partial.commit()
        report(result, of: request)
        try missing.report(result)
    }

    /// The folder of the tables. Throws `CommandError` if none is named, or if one exists that may not be replaced.
    private func tableFolder(_ form: TableForm) throws -> URL {
        guard let folder = file.url, TableForm(ofFile: folder.path) == nil else {
            throw CommandError(
                "--format \(form.rawValue) writes a folder of tables: name it with --output, such as -o tables.")
        }
        guard let status = FileStatus(folder.path) else { return folder }
        guard status.isFolder else { throw CommandError("There is a file at \(folder.relativePath), not a folder.") }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        guard names.allSatisfy({ TableForm(ofFile: $0) != nil }) else {
            throw CommandError("The folder \(folder.relativePath) has other files than tables. Name another one.")
        }
        guard file.force || names.isEmpty else {
            throw CommandError("There are tables in \(folder.relativePath). Use --force to replace them.")
        }
        return folder
    }

    // MARK: - Options

    /// The requested format, otherwise the one of the file's extension.
    private func chosenFormat() throws -> ExportFormat {
        if format == nil, let form = TableForm(ofFile: file.output ?? "") {
            throw CommandError(
                "An export has a table for each entity: write a folder with --format \(form.rawValue) -o tables. One table "
                    + "is written by coral query with --entity and -o \(file.output ?? "").")
        }
        return try format ?? file.format(of: ExportFormat.extensions, else: .graph(.json))
    }

    private func chosenLayout(_ format: ExportFormat) throws -> DocumentLayout? {
        guard let layout else { return nil }
        switch format {
        case .graph(.jsonLines):
            throw CommandError("JSON Lines have no other layout: omit --layout \(layout.rawValue).")
        case .tables: return nil
        case .html: throw CommandError("An HTML page has its own layout: --layout cannot be combined with it.")
        case .graph: return DocumentLayout(rawValue: layout.rawValue)
        }
    }

    /// A nested layout contains each object where it is first reached; a flat one follows no relationships.
    private var chosenPart: GraphShape {
        var part = GraphShape((follow ?? .owned).base)
        for name in exclude { part.exclude(name) }
        return part
    }

    private func report(_ result: ExportResult, of request: NSFetchRequest<NSManagedObjectID>?) {
        if let entity, request != nil, result.recordCount == 0 {
            StandardError.warn(
                "The document has no objects: "
                    + (condition.predicate == nil
                        ? "the store has none of \(entity)." : "none of \(entity) matches --where."))
        }
        StandardError.warn(result.danglingReferences.map(\.description), of: result.danglingReferences.count)
        StandardError.warn(result.keylessReferences.map(\.description), of: result.keylessReferences.count)
        file.report(Quantity.count(result.recordCount, "object"))
    }
}

/// The format of an exported store: a document format, or an HTML page.
enum ExportFormat: ExpressibleByArgument {
    case graph(GraphFormat)
    case html
    /// A folder with a table for each entity.
    case tables(TableForm)

    var isPage: Bool { if case .html = self { true } else { false } }
    var tables: TableForm? { if case .tables(let form) = self { form } else { nil } }

    init?(argument: String) {
        if argument == "html" {
            self = .html
        } else if let form = TableForm(rawValue: argument) {
            self = .tables(form)
        } else if let format = GraphFormat(rawValue: argument) {
            self = .graph(format)
        } else {
            return nil
        }
    }

    /// The formats by the extensions of files.
    static let extensions: [String: ExportFormat] = OutputFile.graphFormats.mapValues { .graph($0) }
        .merging(["html": .html, "htm": .html]) { $1 }

    static var allValueStrings: [String] { GraphFormat.allCases.map(\.rawValue) + ["html", "csv", "tsv"] }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}
