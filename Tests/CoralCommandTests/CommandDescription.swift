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
        let isRepeating: Bool?
        let isOptional: Bool?

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

    /// What is wrong with the words behind the command's name: an option that it has not, one without its value, too few or
    /// too many arguments. Nil where nothing is.
    func mistake(in words: [String]) -> String? {
        if let first = words.first, let next = subcommands?.first(where: { $0.commandName == first }) {
            return next.mistake(in: Array(words.dropFirst()))
        }
        if words == ["--help"] { return nil }
        var rest = words[...]
        var values = 0
        while let word = rest.popFirst() {
            guard word.hasPrefix("-"), word != "-" else {
                values += 1
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            let name = parts[0].drop { $0 == "-" }
            guard let option = (arguments ?? []).first(where: { $0.names?.contains { $0.name == name } ?? false })
            else {
                return "\(commandName) has no \(parts[0])."
            }
            if option.kind == "option", parts.count == 1, rest.popFirst() == nil { return "\(word) has no value." }
        }
        let positional = (arguments ?? []).filter { $0.kind == "positional" }
        if values > positional.count, !positional.contains(where: { $0.isRepeating == true }) {
            return "\(commandName) takes \(positional.count) arguments, not \(values)."
        }
        let needed = positional.filter { $0.isOptional != true }.count
        return values < needed ? "\(commandName) needs \(needed) arguments, not \(values)." : nil
    }
}
