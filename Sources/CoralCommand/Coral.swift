import ArgumentParser

/// The command `coral`. A subcommand is a file of its own here, and a line in this list.
@main
struct CoralCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coral",
        abstract: "Opens, shows and exports Core Data stores, on any machine and without the app that made them.",
        discussion: """
            Stores are opened for reading only, and nothing is changed, unless a command says that it writes. The model is \
            the one that the store keeps of itself; --model gives another.
            """,
        version: "0.1.0",
        subcommands: [
            InfoCommand.self,
            ModelCommand.self,
            ExportCommand.self,
            ImportCommand.self,
            CopyCommand.self,
        ])

    /// Runs the command that the arguments name. What fails is one message on standard error, and exit code 1; arguments
    /// that cannot be understood are exit code 64.
    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let error where isOurs(error) {
            StandardError.write("coral: \(ErrorText.text(of: error))\n")
            Self.exit(withError: ExitCode.failure)
        } catch {
            Self.exit(withError: error)
        }
    }

    /// Whether an error comes from the work, and not from the parser of arguments, which knows best how to show its own.
    private static func isOurs(_ error: any Error) -> Bool {
        exitCode(for: error) == .failure && !(error is ExitCode)
    }
}
