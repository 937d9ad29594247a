import ArgumentParser
import Coral

/// `coral model show`: shows a model as text.
struct ModelShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a model: its entities, attributes, relationships.",
        discussion: """
            Takes a store that contains its model, or a model file of any kind.

            EXAMPLES:
              coral model show Notes.sqlite
              coral model show Notes.xcdatamodeld --entity Note
            """)

    @Argument(help: "A store, .momd, .mom, .xcdatamodeld or .xcdatamodel.", completion: Completion.models)
    var path: String

    @Option(name: .long, help: "Show only this entity.", completion: Completion.entities)
    var entity: String?

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func run() throws { try proof.prove(path, body: show) }

    private func show() throws {
        var description = ModelDescription(try ModelSource.model(at: path))
        if let entity {
            let names = description.entities.map(\.name)
            guard names.contains(entity) else {
                throw CommandError.noEntity(entity, in: names)
            }
            description.entities.removeAll { $0.name != entity }
        }
        if json { return try JSONOutput.write(description) }
        try StandardOutput.write(Self.text(of: description))
    }

    private static func text(of model: ModelDescription) -> String {
        var text = ""
        if !model.versionIdentifiers.isEmpty {
            text += "Version identifiers: \(model.versionIdentifiers.joined(separator: ", "))\n\n"
        }
        for entity in model.entities {
            var title = entity.name
            if let parent = entity.parent { title += " : \(parent)" }
            if entity.isAbstract { title += " (abstract)" }
            if let className = entity.className, className != entity.name { title += ", class \(className)" }
            text += title + "\n"
            let width = (entity.attributes.map(\.name) + entity.relationships.map(\.name)).map(\.count).max() ?? 0
            let lines =
                entity.attributes.map { ($0.name, $0.summary) } + entity.relationships.map { ($0.name, $0.summary) }
            for (name, summary) in lines {
                text += "    \(name)\(String(repeating: " ", count: width - name.count))  \(summary)\n"
            }
            for constraint in entity.uniquenessConstraints {
                text += "    unique: \(constraint.joined(separator: ", "))\n"
            }
            for (key, value) in entity.userInfo.sorted(by: { $0.key < $1.key }) {
                text += "    user info: \(key) = \(value)\n"
            }
            text += "\n"
        }
        return text.hasSuffix("\n\n") ? String(text.dropLast()) : text
    }
}
