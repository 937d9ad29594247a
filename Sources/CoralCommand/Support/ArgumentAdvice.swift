import ArgumentParser
import Coral
import Foundation

/// What to write instead of arguments that a command does not accept.
struct ArgumentAdvice {
    /// The command that the words name.
    private let command: any ParsableCommand.Type
    /// All words, those of the command too.
    private let words: [String]

    init(_ words: some Sequence<String>) {
        self.words = Array(words)
        var level: any ParsableCommand.Type = CoralCommand.self
        for word in words {
            guard let next = Self.subcommand(word, of: level) else { break }
            level = next
        }
        command = level.configuration.defaultSubcommand ?? level
    }

    private static func subcommand(_ name: String, of command: any ParsableCommand.Type) -> (any ParsableCommand.Type)?
    {
        command.configuration.subcommands.first { $0.configuration.commandName == name }
    }

    /// The message of the argument parser, with advice.
    func message(_ text: String) -> String {
        if let match = Self.matches(#"Unknown option '(-[^']*)'\.?( Did you mean '[^']*'\?)?"#, in: text).first {
            return text.replacingCharacters(in: match.range, with: unknown(match.word))
        }
        if let match = Self.matches("[Uu]nexpected arguments?:? '([^']+)'", in: text).first {
            return extra(match.word).map { "\(text)\n\($0)" } ?? text
        }
        if let match = Self.matches("The value '([^'/]+)[^']*' is invalid for '<object>'", in: text).first {
            return "\(text)\nThe names of objects are shown by coral query STORE --entity \(match.word)."
        }
        if !Self.matches("Missing value for '(--sort)", in: text).isEmpty {
            return "\(text)\n\(Self.descending)"
        }
        guard !Self.matches("(Missing expected argument|is invalid for '<|Error: Specify )", in: text).isEmpty,
            let example
        else {
            return text
        }
        return "\(text)\nFor example: \(example)"
    }

    private static let descending = "A descending order is written as --sort KEY:descending."

    /// The first example of the command's help.
    private var example: String? {
        let lines = command.configuration.discussion.components(separatedBy: "EXAMPLES:\n").dropFirst().first
        return lines?.split(separator: "\n").first { $0.contains("coral ") }?.trimmingCharacters(in: .whitespaces)
    }

    /// An option that the command does not have: its similar ones, and the commands that have it.
    private func unknown(_ option: String) -> String {
        if let advice = self.advice(for: option) { return "Unknown option '\(option)'. \(advice)" }
        let names = Self.options(of: command).map { String($0) }
        let question = NameSuggestion.question(for: option, in: names)
        let others = Self.commands(CoralCommand.self, []).filter { Self.options(of: $0.type).contains(option) }
            .map { "coral \($0.name)" }.sorted()
        guard question.isEmpty, !others.isEmpty else { return "Unknown option '\(option)'.\(question)" }
        return "Unknown option '\(option)'. It is an option of \(others.joined(separator: ", "))."
    }

    /// What serves the purpose of an option that programs of this kind often have; nil for others.
    private func advice(for option: String) -> String? {
        switch option {
        case "--sql", "--query":
            return command == QueryCommand.self
                ? "A condition is a predicate, such as --where 'rank > 3'. For SQL, coral views STORE gives the tables readable names."
                : nil
        case "--host", "--bind", "--address", "--listen":
            return command == ServeCommand.self
                ? "Only programs on this machine can connect. From another one, forward a port: ssh -L 8080:localhost:8080 "
                    + "HOST, with --port 8080 here." : nil
        case "--force":
            return Self.options(of: command).contains("--yes") ? "A change is confirmed with --yes." : nil
        case "--yes":
            return Self.options(of: command).contains("--force") ? "An existing file is replaced with --force." : nil
        default: return nil
        }
    }

    /// The names of the options of a command.
    private static func options(of command: any ParsableCommand.Type) -> Set<String> {
        // The options are at the beginnings of lines, before their descriptions.
        let help = CoralCommand.helpMessage(for: command, columns: 1000)
        return Set(matches("(?m)^  (?:-[a-z], )?(--[a-z-]+)", in: help).map(\.word))
    }

    /// The words after `--where`, up to the next option, if a word that is not expected is among them.
    private static func unquotedCondition(in words: [String], before word: String) -> String? {
        guard let start = words.lastIndex(of: "--where") else { return nil }
        let condition = words[(start + 1)...].prefix { !$0.hasPrefix("--") }
        return condition.count > 1 && condition.dropFirst().contains(word) ? condition.joined(separator: " ") : nil
    }

    /// The matches of a pattern, each with the text of its first group. `Regex` needs later systems than the package.
    private static func matches(_ pattern: String, in text: String) -> [(range: Range<String.Index>, word: String)] {
        let expression = try? NSRegularExpression(pattern: pattern)
        let found = expression?.matches(in: text, range: NSRange(text.startIndex..., in: text)) ?? []
        return found.compactMap { match in
            guard let range = Range(match.range, in: text), let word = Range(match.range(at: 1), in: text) else {
                return nil
            }
            return (range, String(text[word]))
        }
    }

    /// All commands below one that have no others below them, with their words.
    private static func commands(
        _ command: any ParsableCommand.Type, _ words: [String]
    ) -> [(name: String, type: any ParsableCommand.Type)] {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty else { return [(words.joined(separator: " "), command)] }
        return subcommands.flatMap { commands($0, words + [$0.configuration.commandName ?? ""]) }
    }

    /// What a word that is not expected was probably meant to be.
    private func extra(_ word: String) -> String? {
        if command == FindCommand.self { return "A text of several words is written in quotes." }
        let options = Self.options(of: command)
        if let condition = Self.unquotedCondition(in: words, before: word) {
            return "A condition is written in quotes: --where \(ShellWord.quoted(condition))"
        }
        if words.contains("--sort"), ["asc", "ascending", "desc", "descending"].contains(word.lowercased()) {
            return Self.descending
        }
        if Int(word) != nil, options.contains("--port") { return "A port is given as --port \(word)." }
        if options.contains("--output"), word.contains(where: { "./".contains($0) }) {
            return "The output is named with --output \(word)."
        }
        return options.contains("--entity") && !words.contains("--entity")
            ? "An entity is given as --entity \(word)." : nil
    }
}
