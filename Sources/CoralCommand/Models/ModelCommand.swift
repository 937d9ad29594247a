import ArgumentParser

/// `coral model`: what concerns models alone. A subcommand is a file of its own here, and a line in this list.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Shows, checks, compares, converts and draws models; compiles them and writes their classes.",
        discussion: """
            Each takes a model file of any kind (.xcdatamodeld, .xcdatamodel, .momd, .mom), or a store for the model that \
            it keeps of itself. No Xcode is needed.

            EXAMPLES:
              coral model show Notes.sqlite
              coral model check Notes.xcdatamodeld
              coral model diff Old.sqlite Notes.xcdatamodeld
              coral model convert Notes.sqlite -o Notes.xcdatamodeld
              coral model diagram Notes.xcdatamodeld -o notes.svg
              coral model compile Notes.xcdatamodeld
              coral model generate Notes.xcdatamodeld Sources/Notes
              coral model port MyPackage
            """,
        subcommands: [
            ModelShowCommand.self,
            ModelCheckCommand.self,
            ModelDiffCommand.self,
            ModelConvertCommand.self,
            ModelDiagramCommand.self,
            ModelSchemaCommand.self,
            ModelCompileCommand.self,
            ModelGenerateCommand.self,
            ModelPortCommand.self,
        ])
}
