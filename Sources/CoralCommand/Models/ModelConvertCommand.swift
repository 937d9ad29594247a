import ArgumentParser
import Coral
import ModelFiles

/// `coral model convert`: writes a model as a file of another kind.
struct ModelConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Writes a model as a file of another kind.",
        discussion: """
            The extension of --output determines the format: .xcdatamodeld or .xcdatamodel for Xcode's editor, .momd \
            or .mom as loaded by apps. A model that is cached in a store can thereby be converted to an editable \
            source. Bundles (.xcdatamodeld, .momd) contain all versions, the other formats the current version or that \
            of --model-version. Without --output the XML of the source is written to standard output.

            The result is read again and compared with the model; if the version hashes differ, nothing is written. A \
            source cannot represent the sort descriptors of fetch requests, validations other than limits and \
            patterns, and some default values: omitted parts are listed, and the exit code is 2.

            The model of a store without one is inferred from its tables, and its source can be improved: with --model the \
            store is read by it, as long as the user info of the entities has coral.inferred.

            EXAMPLES:
              coral model convert Notes.sqlite -o Notes.xcdatamodeld
              coral model convert Notes.xcdatamodeld -o Notes.momd
              coral model convert Notes.momd --model-version 'Notes 2' -o Notes2.mom
            """)

    @Argument(help: "A store, .momd, .mom, .xcdatamodeld or .xcdatamodel.", completion: Completion.models)
    var path: String

    @Option(name: .long, help: ArgumentHelp("The version to write. Default: the current or all.", valueName: "name"))
    var modelVersion: String?

    @OptionGroup var file: OutputFile

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func run() throws { try proof.prove(path, writing: file.url, body: convert) }

    private func convert() throws {
        var model = try ModelFileSource.file(at: path)
        let chosen = try ModelFileSource.version(modelVersion, of: model)
        guard let url = file.url else {
            let conversion = try ModelConversion.source(of: chosen.model)
            try file.write(conversion.data)
            return try report(conversion.omissions)
        }
        if modelVersion != nil { model = try ModelFile(kind: model.kind, versions: [chosen]) }
        let write = try writer(of: model, chosen)
        try file.requireFree(for: .model, reading: URL(storeAt: path))
        let omissions = try write(url)
        let versions = file.fileExtension.hasSuffix("d") ? model.versions.count : 1
        file.report("\(Quantity.count(versions, "version")), \(Quantity.count(chosen.model.entities.count, "entity"))")
        try report(omissions)
    }

    private func report(_ omissions: [ModelDifference.Change]) throws {
        guard !omissions.isEmpty else { return }
        StandardError.warn(omissions.map { "Omitted: \($0)." }, of: omissions.count)
        throw CommandStatus.findings.exitCode
    }

    /// A closure that writes the model to a location and returns the omitted parts.
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
                "The name of the output \(file.output ?? "") must end with .xcdatamodeld, .xcdatamodel, .momd or .mom."
            )
        }
    }
}
