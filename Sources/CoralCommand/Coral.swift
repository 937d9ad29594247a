import ArgumentParser
import Coral

// Where a rule is:
// - which words an assistant's tool passes to a command: `Assistants/AssistantTool.swift`
// - whether `coral import` reads a document at once: `Stores/ImportCommand+Restoring.swift`
// - exit codes: `Support/CommandError.swift`
// - which requests a server answers: `Serving/RequestCheck.swift`
// - which file an output may replace: `Support/OutputFile.swift`
// - which characters a terminal receives: `Support/TerminalEscaping.swift`

/// The command `coral`. Each subcommand has its own file, and an entry in the list below.
@main
struct CoralCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coral",
        abstract: "Opens, shows and exports Core Data stores, on any machine and without the app that made them.",
        discussion: """
            A command changes nothing, unless its description says that it writes. A store contains its model; \
            --model names another one. A store is the path of a file. If the command was built with the trait \
            PostgreSQL, it may be a URL too: postgresql://user@host/database?schema=name.

            EXAMPLES:
              coral info Notes.sqlite
              coral query Notes.sqlite --entity Note --where 'rank > 3'
              coral export Notes.sqlite -o notes.json
              coral import notes.json --into Copy.sqlite --model Notes.sqlite
              coral model diagram Notes.sqlite -o notes.svg

            \(CommandStatus.help)

            COMPLETION:
              Completion of words in the shell, including the names of entities and properties:
              coral --generate-completion-script bash > /etc/bash_completion.d/coral
            """,
        version: "\(CoralVersion.current)\n\(TriedStores.sentence)",
        subcommands: [
            InfoCommand.self,
            FindStoresCommand.self,
            ServeCommand.self,
            MCPCommand.self,
            QueryCommand.self,
            GetCommand.self,
            FindCommand.self,
            TimelineCommand.self,
            ExportCommand.self,
            ImportCommand.self,
            SetCommand.self,
            DeleteCommand.self,
            CopyCommand.self,
            MigrateCommand.self,
            UpgradeCommand.self,
            FleetCommand.self,
            DiffCommand.self,
            HistoryCommand.self,
            SubsetCommand.self,
            CheckCommand.self,
            VerifyCommand.self,
            ProofCommand.self,
            VersionsCommand.self,
            ExplainCommand.self,
            DoctorCommand.self,
            ViewsCommand.self,
            ConvertCommand.self,
            SalvageCommand.self,
            ModelCommand.self,
        ])

    /// Runs the command given by the arguments. Errors are written to standard error as one message; see
    /// `CommandStatus`.
    static func main() {
        StandardStreams.occupyClosed()
        refuseUnreadableArguments()
        refuseEmptyArgument()
        refuseUnknownCommand()
        do {
            try ServerURLs.requireUsable()
            var command = try parseAsRoot()
            try command.run()
        } catch let error as CocoaError where error.code == .userCancelled {
            let status = Interruption.shared.status
            let word = status == .terminated ? "Terminated" : "Interrupted"
            // A part of a document may have been written to standard output before the interruption.
            let rest =
                StandardOutput.hasOutput ? "The output is incomplete; no file was changed." : "Nothing was written."
            StandardError.write("coral: \(word). \(rest)\n")
            Self.exit(withError: status.exitCode)
        } catch let error as UnreportedChange {
            StandardError.write("\(TextStyle.red.text("coral:", on: .error)) \(error)\n")
            Self.exit(withError: CommandStatus.unreported.exitCode)
        } catch let error where isOurs(error) {
            let text = ServerURLs.withoutPasswords(ErrorText.text(of: error))
            StandardError.write("\(TextStyle.red.text("coral:", on: .error)) \(text)\n")
            Self.exit(withError: CommandStatus.failure.exitCode)
        } catch {
            let text = fullMessage(for: error)
            let shown = ArgumentAdvice(CommandLine.arguments.dropFirst()).message(ServerURLs.withoutPasswords(text))
            guard shown != text else { Self.exit(withError: error) }
            StandardError.write(shown + "\n")
            Self.exit(withError: exitCode(for: error))
        }
    }

    /// Reports an unknown subcommand, and suggests the one with the most similar name.
    private static func refuseUnknownCommand() {
        var level: any ParsableCommand.Type = CoralCommand.self
        for word in CommandLine.arguments.dropFirst() {
            let commands = level.configuration.subcommands
            guard !word.hasPrefix("-"), !commands.isEmpty else { return }
            // The words after it name a command too.
            if word == "help" { continue }
            if let next = commands.first(where: { $0.configuration.commandName == word }) {
                level = next
                continue
            }
            // If a command has a default subcommand, the word may be an argument of that.
            if level.configuration.defaultSubcommand != nil { return }
            let names = commands.compactMap { $0.configuration.commandName }
            let question = NameSuggestion.question(for: word, in: names)
            let list = question.isEmpty ? " There are: \(names.joined(separator: ", "))." : question
            StandardError.write("coral: There is no command \"\(word)\".\(list)\n")
            Self.exit(withError: ExitCode.validationFailure)
        }
    }

    /// Refuses to run if the arguments cannot be read. On Linux they are in the folder /proc. Where it is not mounted, as in some
    /// rescue systems, each command would print the help and succeed.
    private static func refuseUnreadableArguments() {
        guard CommandLine.arguments.isEmpty else { return }
        StandardError.write("coral: The arguments cannot be read, because /proc is not mounted.\n")
        Self.exit(withError: ExitCode.failure)
    }

    /// Refuses an empty word, because an empty path would name the current folder. A variable of the shell without a value
    /// gives such a word, in quotation marks or as `--option=$value`.
    private static func refuseEmptyArgument() {
        // The shell's completion passes the empty word that is about to be typed.
        guard CommandLine.arguments.dropFirst().first?.hasPrefix("---") != true else { return }
        var previous = "coral"
        for word in CommandLine.arguments.dropFirst() {
            let isEmptyOption = word.hasPrefix("--") && word.hasSuffix("=") && !word.dropLast().contains("=")
            guard word.isEmpty || isEmptyOption else {
                previous = word
                continue
            }
            let place = isEmptyOption ? word : ServerURLs.withoutPasswords(previous)
            StandardError.write("coral: The argument after \(place) is empty.\n")
            Self.exit(withError: ExitCode.validationFailure)
        }
    }

    /// Whether an error was thrown by a command, and not by the argument parser, which formats its own errors.
    private static func isOurs(_ error: any Error) -> Bool {
        exitCode(for: error) == .failure && !(error is ExitCode)
    }
}
