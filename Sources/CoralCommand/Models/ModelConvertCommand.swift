import ArgumentParser
import Coral
import ModelFiles

/// `coral model convert`: a model as a file of another kind.
struct ModelConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Writes a model as a file of another kind.",
        discussion: """
            The ending of --output says what is written: .xcdatamodeld or .xcdatamodel for Xcode's editor, .momd or .mom \
            as apps hold them. So a store's own model becomes a source that can be edited. Bundles (.xcdatamodeld, .momd) \
            hold all versions, the others the current one, or the one of --model-version. Without --output the XML of the \
            source goes to standard output.

            EXAMPLES:
              coral model convert Notes.sqlite -o Notes.xcdatamodeld
              coral model convert Notes.xcdatamodeld -o Notes.momd
              coral model convert Notes.momd --model-version 'Notes 2' -o Notes2.mom
            """)

    @Argument(help: "A store, .momd, .mom, .xcdatamodeld or .xcdatamodel.", completion: Completion.models)
    var path: String

    @Option(name: .long, help: ArgumentHelp("The version to write; else the current one, or all.", valueName: "name"))
    var modelVersion: String?

    @OptionGroup var file: OutputFile

    func run() throws {
        var model = try ModelFileSource.file(at: path)
        let chosen = try ModelFileSource.version(modelVersion, of: model)
        guard let url = file.url else {
            return try file.write(String(decoding: ModelSourceWriter.write(chosen.model), as: UTF8.self))
        }
        if modelVersion != nil { model = try ModelFile(kind: model.kind, versions: [chosen]) }
        let write = try writer(of: model, chosen)
        try file.requireFree(for: .model, reading: URL(fileURLWithPath: path))
        try write(url)
        let versions = file.fileExtension.hasSuffix("d") ? model.versions.count : 1
        file.report("\(Quantity.count(versions, "version")), \(Quantity.count(chosen.model.entities.count, "entity"))")
    }

    private func writer(of model: ModelFile, _ chosen: ModelFile.Version) throws -> (URL) throws -> Void {
        switch file.fileExtension {
        case "xcdatamodeld": { try model.writeSourceBundle(to: $0) }
        case "momd": { try model.writeCompiledBundle(to: $0) }
        case "mom": { try ModelReplacement.write(ModelArchive.write(chosen.model), to: $0) }
        case "xcdatamodel": { try ModelFile.writeSourceModel(chosen.model, to: $0) }
        default:
            throw CommandError(
                "The file's name must end with .xcdatamodeld, .xcdatamodel, .momd or .mom, not as \(file.output ?? "")."
            )
        }
    }
}
