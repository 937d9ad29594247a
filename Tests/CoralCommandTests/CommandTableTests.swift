import Foundation
import Testing

/// Compares all commands: a name has the same meaning in every command, and the examples in help and articles are
/// valid.
@Suite struct CommandTableTests {
    /// Commands whose result is a document, a file, or pages, not a table.
    private let writers: Set = [
        "export", "serve", "mcp", "views", "model convert", "model diagram", "model schema", "model compile",
        "model generate",
    ]

    @Test func `every command has an example, and help for each argument`() throws {
        let commands = try CommandDescription.all()
        #expect(commands.count > 15)
        for (words, command) in commands {
            let name = words.joined(separator: " ")
            #expect(command.examples.contains { $0.contains("coral \(name)") }, "coral \(name) shows no example.")
            #expect(command.abstract?.hasSuffix(".") == true, "coral \(name)")
            for argument in command.ownArguments {
                let option = argument.longName ?? argument.valueName ?? ""
                #expect(
                    argument.abstract?.hasSuffix(".") == true, "coral \(name), \(option): \(argument.abstract ?? "")")
            }
            for line in command.exampleLines {
                #expect(line.count < 80, "coral \(name): the terminal would break \(line)")
            }
            let run = try CommandRun(words + ["--help"])
            #expect(run.status == 0 && run.output.contains("USAGE: coral \(name)"))
        }
    }

    @Test func `commands that print a table also print JSON, and commands that write a file have --force`() throws {
        for (words, command) in try CommandDescription.all() {
            let name = words.joined(separator: " ")
            #expect(command.longNames.contains("json") != writers.contains(name), "coral \(name)")
            #expect(Set(command.longNames).count == command.longNames.count, "coral \(name) has a name twice.")
            if command.longNames.contains("output") {
                #expect(command.longNames.contains("force"), "coral \(name)")
                #expect(
                    command.ownArguments.contains { $0.names?.contains { $0.name == "o" } == true }, "coral \(name)")
            }
        }
    }

    @Test
    func
        `a command that changes a store makes a backup, shows its changes with --dry-run, and is confirmed with --yes`()
        throws
    {
        for (words, command) in try CommandDescription.all() {
            let name = words.joined(separator: " ")
            let names = Set(command.longNames)
            // The browser shows and confirms each change of coral serve.
            if names.contains("no-backup"), name != "serve" { #expect(names.contains("dry-run"), "coral \(name)") }
            if names.contains("yes") { #expect(names.isSuperset(of: ["no-backup", "dry-run"]), "coral \(name)") }
            // --force replaces a file or a folder, and nothing else. The folder of coral model generate is an argument.
            if names.contains("force"), name != "model generate" {
                #expect(!names.isDisjoint(with: ["output", "repair", "save", "write"]), "coral \(name)")
            }
        }
    }

    @Test func `a name has the same meaning in every command`() throws {
        var values: [String: Set<String>] = [:]
        for (_, command) in try CommandDescription.all() {
            for argument in command.ownArguments {
                guard let name = argument.longName else { continue }
                values[name, default: []].insert(argument.kind == "flag" ? "flag" : argument.valueName ?? "")
            }
        }
        // A model's file and a store are both files.
        values["output"]?.subtract(["path"])
        // A version and the file of a model are both models.
        values["to"]?.subtract(["version"])
        for (name, kinds) in values { #expect(kinds.count <= 1, "--\(name) takes \(kinds.sorted())") }
    }

    @Test func `examples in help are valid`() throws {
        let coral = try CommandDescription.coral()
        for (_, command) in try CommandDescription.all() {
            for line in command.examples { check(line, coral) }
        }
        for command in coral.subcommands ?? [] where command.subcommands != nil {
            for line in command.examples { check(line, coral) }
        }
        for line in coral.examples where !line.contains("--generate-completion-script") { check(line, coral) }
    }

    @Test func `commands in the README and the articles are valid`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var pages = [root.appendingPathComponent("README.md")]
        let sources = FileManager.default.enumerator(
            at: root.appendingPathComponent("Sources"), includingPropertiesForKeys: nil)
        for case let file as URL in sources ?? .init() where file.path.contains(".docc/") && file.pathExtension == "md"
        {
            pages.append(file)
        }
        let coral = try CommandDescription.coral()
        var count = 0
        for page in pages {
            // A line that ends with a backslash goes on in the next one.
            let text = try String(contentsOf: page, encoding: .utf8).replacingOccurrences(of: "\\\n", with: "")
            for line in text.split(separator: "\n") {
                let line = line.trimmingCharacters(in: .whitespaces)
                guard line.hasPrefix("$ coral "), !line.contains("--generate-completion-script") else { continue }
                check(String(line.dropFirst(2)), coral)
                count += 1
            }
        }
        #expect(count > 10)
    }

    /// Checks the commands of a line against their descriptions, without running them.
    private func check(_ line: String, _ coral: CommandDescription) {
        for part in Self.commands(in: line) where part.first == "coral" {
            if let mistake = coral.mistake(in: Array(part.dropFirst())) { Issue.record("\(line)\n\(mistake)") }
        }
    }

    /// The words of each command in a pipe; quoted words are kept together, and redirections and comments are omitted.
    private static func commands(in line: String) -> [[String]] {
        var commands: [[String]] = [[]]
        var word: String?
        var quote: Character?
        func end() {
            if let finished = word { commands[commands.count - 1].append(finished) }
            word = nil
        }
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
                continue
            }
            switch character {
            case "'", "\"":
                quote = character
                word = word ?? ""
            case "|":
                end()
                commands.append([])
            case ">", "#":
                // In `2>&1` the number belongs to the redirection.
                if word.flatMap(Int.init) == nil { end() }
                return commands
            case " ": end()
            default: word = (word ?? "") + String(character)
            }
        }
        end()
        return commands
    }
}
