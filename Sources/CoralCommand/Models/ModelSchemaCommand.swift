import ArgumentParser
import Coral
import CoralTools

/// `coral model schema`: a schema or a sample of a model's documents.
struct ModelSchemaCommand: ParsableCommand {
    /// The described layout of documents.
    enum Layout: String, ExpressibleByArgument, CaseIterable {
        case flat, nested, lines

        var layout: DocumentLayout {
            switch self {
            case .flat: .flat
            case .nested: .nested
            case .lines: .lines
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Writes the JSON Schema of a model's documents, or a sample document.",
        discussion: """
            The schema conforms to draft 2020-12; editors validate documents with it. With --sample a small document \
            with sample objects is written instead, in any format.

            EXAMPLES:
              coral model schema Notes.xcdatamodeld -o notes.schema.json
              coral model schema Notes.sqlite --sample --format xml
            """)

    @Argument(help: "A store, .momd, .mom, .xcdatamodeld or .xcdatamodel.", completion: Completion.models)
    var path: String

    @Option(name: .long, help: "The layout of the documents; lines describes one line.")
    var layout: Layout = .flat

    @Flag(name: .long, help: "Write a sample document.")
    var sample = false

    @Option(name: .long, help: "The format of the sample.")
    var format: DocumentFormat?

    @OptionGroup var file: OutputFile

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func validate() throws {
        if format != nil, !sample { throw ValidationError("--format requires --sample.") }
    }

    func run() throws { try proof.prove(path, writing: file.url, body: describe) }

    private func describe() throws {
        let model = try ModelSource.model(at: path)
        try file.requireFree(reading: URL(storeAt: path))
        guard sample else {
            let schema = try DocumentSchema(model, layout: layout.layout).data()
            return try file.write(String(decoding: schema, as: UTF8.self) + "\n")
        }
        let chosen = try format?.format ?? file.format(of: OutputFile.graphFormats, else: .json)
        try file.write(SampleDocument(model).data(as: chosen))
    }
}
