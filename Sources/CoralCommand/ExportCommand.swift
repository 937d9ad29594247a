import ArgumentParser
import Coral

extension GraphFormat: ExpressibleByArgument {}

/// `coral export`: a store, or part of one, as a document.
struct ExportCommand: ParsableCommand {
    /// How records are laid out.
    enum Layout: String, ExpressibleByArgument, CaseIterable {
        case flat, nested
    }

    /// Which part of the graph follows the objects that are asked for.
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

    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes a store, or part of one, to a document.",
        discussion: """
            Without --entity the whole store is written. With it, the objects of that entity, those that the predicate \
            finds, and what --follow says: what they own (their cascading relationships), everything, or nothing.
            """)

    @Argument(help: "The store.")
    var store: String

    @Option(name: .shortAndLong, help: "The file to write; - for standard output, which is where it goes without this.")
    var output: String?

    @Option(name: .long, help: "The format of the document.")
    var format: GraphFormat?

    @Option(name: .long, help: "How records are laid out.")
    var shape: Layout?

    @Option(name: .long, help: "Only objects of this entity, and what follows them.")
    var entity: String?

    @Option(
        name: .customLong("where"), help: ArgumentHelp("Only objects for which this holds.", valueName: "predicate"))
    var predicate: String?

    @Option(name: .long, help: "What follows the objects of --entity.")
    var follow: Follow?

    @Option(name: .long, help: ArgumentHelp("Leave out an entity, or a property such as Note.body.", valueName: "name"))
    var exclude: [String] = []

    @Flag(name: .long, help: "Replace the file if there is one.")
    var force = false

    @OptionGroup var source: ModelSource

    func validate() throws {
        if predicate != nil, entity == nil { throw ValidationError("--where wants --entity: the entity it is about.") }
    }

    func run() throws {
        let open = try OpenStore(path: store, model: source)
        let sink = try makeSink(of: open)
        var exporter = GraphExporter(format: try chosenFormat())
        exporter.layout = try chosenLayout(exporter.format)
        exporter.shape = GraphShape(chosenFollow.base)
        for name in exclude { exporter.shape.exclude(name) }
        let result = try open.context.performAndWait { try write(open, with: exporter, to: sink) }
        report(result)
    }

    private func write(
        _ open: OpenStore, with exporter: GraphExporter, to sink: any ByteSink
    ) throws -> ExportResult {
        guard let entity else { return try exporter.exportStore(of: open.coordinator, to: sink) }
        let description = try open.entity(named: entity)
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        request.predicate = try predicate.map { try Predicates.predicate($0, for: description) }
        return try exporter.export(request, in: open.context, to: sink)
    }

    // MARK: - What was chosen

    /// The format that was asked for, else the one that the file's name says.
    private func chosenFormat() throws -> GraphFormat {
        if let format { return format }
        guard let output, output != "-" else { return .json }
        let ending = URL(fileURLWithPath: output).pathExtension.lowercased()
        return GraphFormat(fileExtension: ending) ?? .json
    }

    private func chosenLayout(_ format: GraphFormat) throws -> DocumentShape? {
        guard let shape else { return nil }
        if format == .jsonLines {
            throw CommandError("JSON Lines hold a record a line: --shape \(shape.rawValue) does not go with them.")
        }
        return shape == .flat ? .flat : .nested
    }

    /// A nested store holds each object where it is first met; a flat one needs no relationship to be followed.
    private var chosenFollow: Follow { follow ?? .owned }

    private func makeSink(of open: OpenStore) throws -> any ByteSink {
        guard let output, output != "-" else { return StandardOutput.sink }
        let url = URL(fileURLWithPath: output)
        guard url.standardizedFileURL != open.url.standardizedFileURL else {
            throw CommandError("The document would replace the store.")
        }
        if !force, FileManager.default.fileExists(atPath: url.path) {
            throw CommandError("There is a file at \(output). Say --force to replace it.")
        }
        return try AtomicFile(path: url.path)
    }

    private func report(_ result: ExportResult) {
        for reference in result.danglingReferences.prefix(10) { StandardError.warn(reference.description) }
        if result.danglingCount > 10 {
            StandardError.warn("There are \(result.danglingCount - 10) more references to objects that do not exist.")
        }
        if output != nil, output != "-" {
            StandardError.write("\(Quantity.count(result.recordCount, "object")) written to \(output ?? "").\n")
        }
    }
}
