import ArgumentParser

/// `coral model`: commands for models. Each subcommand has its own file, and an entry in the list below.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Shows, checks, compares, converts and draws models, compiles them, and generates their classes.",
        discussion: """
            Each command takes a model file of any kind (.xcdatamodeld, .xcdatamodel, .momd, .mom), or a store that \
            contains its model. Xcode is not needed.

            EXAMPLES:
              coral model show Notes.sqlite
              coral model check Notes.xcdatamodeld
              coral model diff Old.sqlite Notes.xcdatamodeld
              coral model migrations Notes.xcdatamodeld
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
            ModelMigrationsCommand.self,
            ModelConvertCommand.self,
            ModelDiagramCommand.self,
            ModelSchemaCommand.self,
            ModelCompileCommand.self,
            ModelGenerateCommand.self,
            ModelPortCommand.self,
        ])
}
