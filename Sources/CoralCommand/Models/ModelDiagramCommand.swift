import ArgumentParser
import Coral
import CoralTools

/// `coral model diagram`: a diagram of the entities and their relationships.
struct ModelDiagramCommand: ParsableCommand {
    /// The format of the diagram.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case svg, mermaid, dot
    }

    static let configuration = CommandConfiguration(
        commandName: "diagram", abstract: "Draws a model: its entities and relationships.",
        discussion: """
            A crow's foot marks the end of a to-many relationship, one bar the end of an optional to-one relationship, \
            two bars that of a required one; a hollow arrow points from an entity to its parent. Unique names are \
            underlined, and properties that are not stored are in italics.

            SVG is an image; Mermaid and DOT are text from which other programs draw the diagram.

            EXAMPLES:
              coral model diagram Notes.xcdatamodeld -o notes.svg
              coral model diagram Photos.sqlite --entity Album --brief -o album.svg
              coral model diagram Notes.sqlite --format mermaid >> README.md
            """)

    @Argument(help: "A store, .momd, .mom, .xcdatamodeld or .xcdatamodel.", completion: Completion.models)
    var path: String

    @Option(
        name: .long,
        help: "Show only this entity and related ones. May be repeated.",
        completion: Completion.entities)
    var entity: [String] = []

    @Flag(name: .long, help: "Omit the attributes.")
    var brief = false

    @Option(name: .long, help: "The format. Default: that of the file's extension (.svg, .mmd, .dot, .gv), or svg.")
    var format: Format?

    @OptionGroup var file: OutputFile

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func run() throws { try proof.prove(path, writing: file.url, body: draw) }

    private func draw() throws {
        let model = try ModelSource.model(at: path)
        for name in entity { _ = try OpenStore.entity(named: name, in: model) }
        let diagram = ModelDiagram(
            model, entities: entity.isEmpty ? nil : Set(entity), showsAttributes: !brief)
        let text =
            switch try chosenFormat() {
            case .svg: diagram.svg(title: URL(storeAt: path).deletingPathExtension().lastPathComponent)
            case .mermaid: diagram.mermaid()
            case .dot: diagram.dot()
            }
        try file.requireFree(reading: URL(storeAt: path))
        try file.write(text)
        let count = (Quantity.count(diagram.boxes.count, "entity"), Quantity.count(diagram.lines.count, "line"))
        file.report("\(count.0), \(count.1)")
    }

    private func chosenFormat() throws -> Format {
        try format
            ?? file.format(
                of: ["svg": .svg, "mmd": .mermaid, "mermaid": .mermaid, "md": .mermaid, "dot": .dot, "gv": .dot],
                else: .svg)
    }
}
