import Foundation

/// The machine-readable description of a command: its options, its help, and its subcommands.
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
    /// The name of the subcommand that is meant if none is named.
    let defaultSubcommand: String?

    /// The own options and the arguments, without the options that every command has.
    var ownArguments: [Argument] {
        (arguments ?? []).filter { $0.longName != "help" && !($0.longName == "version" && $0.kind == "flag") }
    }

    var longNames: [String] { ownArguments.compactMap(\.longName) }

    /// The lines of the help below EXAMPLES.
    var exampleLines: [Substring] {
        (discussion ?? "").components(separatedBy: "EXAMPLES:").dropFirst().first?.split(separator: "\n") ?? []
    }

    /// The examples of the help, each as one line.
    var examples: [String] {
        let lines = exampleLines.joined(separator: "\n").replacingOccurrences(
            of: "\\\\\n +", with: "", options: .regularExpression
        ).split(separator: "\n")
        return lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0.contains("coral ") }
    }

    /// The command `coral`.
    static func coral() throws -> CommandDescription {
        let run = try CommandRun("--experimental-dump-help")
        return try JSONDecoder().decode(Root.self, from: Data(run.output.utf8)).command
    }

    /// All commands without subcommands, with the words of their names.
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

    /// The error in the arguments of a command: an unknown option, an option without its value, too few or too many
    /// arguments. Nil for valid arguments.
    func mistake(in words: [String]) -> String? {
        if let first = words.first, let next = subcommands?.first(where: { $0.commandName == first }) {
            return next.mistake(in: Array(words.dropFirst()))
        }
        if words == ["--help"] { return nil }
        if let usual = subcommands?.first(where: { $0.commandName == defaultSubcommand }) {
            return usual.mistake(in: words)
        }
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
