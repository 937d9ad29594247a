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

            The result is read again and compared with the model: its version hashes are the same, or nothing is written. \
            A source has no place for sort descriptors of fetch requests, for validations beyond limits and patterns, and \
            for some defaults: what is left out is listed, with exit code 2.

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
            let conversion = try ModelConversion.source(of: chosen.model)
            try file.write(conversion.data)
            return try report(conversion.omissions)
        }
        if modelVersion != nil { model = try ModelFile(kind: model.kind, versions: [chosen]) }
        let write = try writer(of: model, chosen)
        try file.requireFree(for: .model, reading: URL(fileURLWithPath: path))
        let omissions = try write(url)
        let versions = file.fileExtension.hasSuffix("d") ? model.versions.count : 1
        file.report("\(Quantity.count(versions, "version")), \(Quantity.count(chosen.model.entities.count, "entity"))")
        try report(omissions)
    }

    private func report(_ omissions: [ModelDifference.Change]) throws {
        guard !omissions.isEmpty else { return }
        StandardError.warn(omissions.map { "Left out: \($0)." }, of: omissions.count)
        throw CommandStatus.findings.exitCode
    }

    /// What writes the model to a location, and gives what it left out.
    private func writer(
        of model: ModelFile, _ chosen: ModelFile.Version
    ) throws -> (URL) throws -> [ModelDifference.Change] {
        switch file.fileExtension {
        case "xcdatamodeld": { try model.writeSourceBundle(to: $0) }
        case "momd": { try model.writeCompiledBundle(to: $0) }
        case "mom": { try ModelFile.writeCompiledModel(chosen.model, to: $0) }
        case "xcdatamodel": { try ModelFile.writeSourceModel(chosen.model, to: $0) }
        default:
            throw CommandError(
                "The file's name must end with .xcdatamodeld, .xcdatamodel, .momd or .mom, not as \(file.output ?? "")."
            )
        }
    }
}
