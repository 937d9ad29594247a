import ArgumentParser
import Coral

/// `coral model diagram`: the entities and their relationships as a picture.
struct ModelDiagramCommand: ParsableCommand {
    /// What the picture is written as.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case svg, mermaid, dot
    }

    static let configuration = CommandConfiguration(
        commandName: "diagram", abstract: "Draws a model: its entities and relationships.",
        discussion: """
            A crow's foot stands where there may be many, a bar where there is one, two bars where there must be one; a \
            hollow arrow leads to what an entity inherits from. Names that are unique are underlined, what is not stored \
            is in italics.

            SVG is a picture; Mermaid and DOT are text for other programs to draw.

            EXAMPLES:
              coral model diagram Notes.xcdatamodeld -o notes.svg
              coral model diagram Photos.sqlite --entity Album --brief -o album.svg
              coral model diagram Notes.sqlite --format mermaid >> README.md
            """)

    @Argument(help: "A store, .momd, .mom, .xcdatamodeld or .xcdatamodel.", completion: Completion.models)
    var path: String

    @Option(
        name: .long,
        help: "Show only this entity and what it is related to. May be said several times.",
        completion: Completion.entities)
    var entity: [String] = []

    @Flag(name: .long, help: "Leave out the attributes.")
    var brief = false

    @Option(name: .long, help: "What to write; else what the file's name says (.svg, .mmd, .dot, .gv), or svg.")
    var format: Format?

    @OptionGroup var file: OutputFile

    func run() throws {
        let model = try ModelSource.model(at: path)
        for name in entity { _ = try OpenStore.entity(named: name, in: model) }
        let diagram = ModelDiagram(
            model, entities: entity.isEmpty ? nil : Set(entity), showsAttributes: !brief)
        let text =
            switch chosenFormat {
            case .svg: diagram.svg(title: URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent)
            case .mermaid: diagram.mermaid()
            case .dot: diagram.dot()
            }
        try file.requireFree(reading: URL(fileURLWithPath: path))
        try file.write(text)
        let count = (Quantity.count(diagram.boxes.count, "entity"), Quantity.count(diagram.lines.count, "line"))
        file.report("\(count.0), \(count.1)")
    }

    private var chosenFormat: Format {
        if let format { return format }
        return switch file.fileExtension {
        case "mmd", "mermaid", "md": .mermaid
        case "dot", "gv": .dot
        default: .svg
        }
    }
}
