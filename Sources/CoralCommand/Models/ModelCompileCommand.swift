import ArgumentParser
import Coral
import ModelCodeGeneration
import ModelFiles

/// `coral model compile`: compiles models as Xcode's model compiler does.
struct ModelCompileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compile", abstract: "Compiles a source model into the .momd or .mom that a program loads.",
        discussion: """
            An error in the model is reported with file and line, as by a compiler, and nothing is written.

            EXAMPLES:
              coral model compile Notes.xcdatamodeld
              coral model compile Notes.xcdatamodeld -o Resources/Notes.momd \\
                --module Notes --force
            """)

    @Argument(help: "An .xcdatamodeld or .xcdatamodel.", completion: Completion.models)
    var model: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file or folder to write. Default: the model's name, in the current folder.", valueName: "path"),
        completion: .file())
    var output: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The module of the classes, which are then named Module.Class.", valueName: "name"))
    var module: String?

    @Flag(name: .long, help: "Replace an existing file or folder without asking.")
    var force = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func run() throws {
        // Read here for the name of the output only: what is compiled is read after the files are hashed.
        let target = try proof.proof ? target(of: ModelFile.read(at: source)) : nil
        try proof.prove(model, writing: target, body: compile)
    }

    private var source: URL { URL(fileURLWithPath: model) }

    private func target(of file: ModelFile) -> URL {
        URL(fileURLWithPath: output ?? file.compiledName(source.deletingPathExtension().lastPathComponent))
    }

    private func compile() throws {
        let file = try ModelFile.read(at: source)
        let mistakes = file.versions.flatMap { $0.model.validate() }
        guard mistakes.isEmpty else { throw CommandError(mistakes.map(\.compilerMessage).joined(separator: "\n")) }
        let name = source.deletingPathExtension().lastPathComponent
        let target = target(of: file)
        let ending = URL(fileURLWithPath: file.compiledName(name)).pathExtension
        guard target.pathExtension == ending else {
            throw CommandError("The compiled form of \(model) must have a name that ends with .\(ending).")
        }
        try Confirmation.requireFree(target.path, for: .model, reading: [source], isForced: force)
        try StandardOutput.requireOpen()
        try file.qualified(by: module).writeCompiled(to: target)
        try StandardOutput.report("\(target.path): \(Quantity.count(file.versions.count, "version"))\n")
    }
}
