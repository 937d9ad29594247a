import Foundation

/// A command as it describes itself to machines: its options, its help, and the commands below it.
struct CommandDescription: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let kind: String
        let names: [Name]?
        let valueName: String?
        let abstract: String?
        let shouldDisplay: Bool?

        /// The name after two hyphens.
        var longName: String? { names?.first { $0.kind == "long" }?.name }
    }

    private struct Root: Decodable {
        let command: CommandDescription
    }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let arguments: [Argument]?
    let subcommands: [CommandDescription]?

    /// What the shell is asked for: the options but those that every command has, and the arguments.
    var ownArguments: [Argument] {
        (arguments ?? []).filter { $0.longName != "help" && !($0.longName == "version" && $0.kind == "flag") }
    }

    var longNames: [String] { ownArguments.compactMap(\.longName) }

    /// The lines of the help that show how the command is used.
    var examples: [String] {
        let lines =
            (discussion ?? "").components(separatedBy: "EXAMPLES:").dropFirst().first?.split(separator: "\n") ?? []
        return lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0.contains("coral ") }
    }

    /// The command `coral`.
    static func coral() throws -> CommandDescription {
        let run = try CommandRun("--experimental-dump-help")
        return try JSONDecoder().decode(Root.self, from: Data(run.output.utf8)).command
    }

    /// All commands that do something, with the words by which they are called.
    static func all() throws -> [(words: [String], command: CommandDescription)] {
        var found: [(words: [String], command: CommandDescription)] = []
        var pending: [(words: [String], command: CommandDescription)] = [([], try coral())]
        while let (words, command) = pending.popLast() {
            let below = (command.subcommands ?? []).filter { $0.commandName != "help" }
            if below.isEmpty { found.append((words, command)) }
            pending += below.map { (words + [$0.commandName], $0) }
        }
        return found.sorted { $0.words.joined(separator: " ") < $1.words.joined(separator: " ") }
    }
}
