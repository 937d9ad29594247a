import Coral
import Foundation
import Testing

@testable import CoralCommand

/// Completion in real shells, with a model whose names contain shell code.
@Suite struct ShellCompletionTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "Completion-\(UUID().uuidString)")
    private var model: String { folder.appendingPathComponent("Hostile.xcdatamodeld").path }
    private var trap: String { folder.appendingPathComponent("X").path }

    init() throws {
        let version = folder.appendingPathComponent("Hostile.xcdatamodeld/Hostile.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        let trap = folder.appendingPathComponent("X").path
        let names = [
            "$(touch \(trap))", "`touch \(trap)`", "Note; touch \(trap)", "Note\" touch \(trap) \"", "a:b", "Note",
            "Größe", "No*", "No te", "~", "Note\u{202E}", "$HOME", "\\Note", "'Note",
        ]
        let entities = names.map { name in
            let text = name.replacingOccurrences(of: "\"", with: "&quot;")
            return "<entity name=\"\(text)\"><attribute name=\"title\" attributeType=\"String\"/>"
                + "<attribute name=\"$(touch \(trap))\" attributeType=\"String\"/></entity>"
        }
        let source =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
            + "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\">\(entities.joined())</model>"
        try Data(source.utf8).write(to: version.appendingPathComponent("contents"))
    }

    /// The output of a shell; nil if it is not installed.
    private func shell(_ name: String, _ script: String) throws -> [String]? {
        guard try CommandRun(shell: "command -v \(name) && command -v script").status == 0 else {
            print("\(name) or script is not installed: completion is not tested there")
            return nil
        }
        let file = folder.appendingPathComponent("script.\(name)")
        try Data(script.utf8).write(to: file)
        let run = try CommandRun(
            shell:
                "PATH=\"$CORAL_FOLDER:$PATH\" coral --generate-completion-script \(name) > '\(folder.path)/completion'; "
                + "cd '\(folder.path)' && PATH=\"$CORAL_FOLDER:$PATH\" HOME='\(folder.path)' \(name) '\(file.path)'")
        return run.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    }

    private func expectNoTrap() { #expect(!FileManager.default.fileExists(atPath: trap)) }

    @Test func `names are completed in bash`() throws {
        func offered(_ words: [String]) throws -> [String]? {
            let list = words.map { "'" + $0.replacingOccurrences(of: "'", with: "'\\''") + "'" }.joined(separator: " ")
            return try shell(
                "bash",
                """
                source ./completion
                COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
                # As bash does: the word without the quote that it begins with, then the word before.
                _coral coral "${COMP_WORDS[COMP_CWORD]#\\'}" "${COMP_WORDS[COMP_CWORD-1]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """)
        }
        guard let names = try offered(["coral", "model", "show", model, "--entity", ""]) else { return }
        expectNoTrap()
        #expect(names == ["Größe", "Note"])
        #expect(try offered(["coral", "model", "show", model, "--entity", "No"]) == ["Note"])
        // The typed word is not evaluated either, and is kept. (For a word with quotes inside, bash finds nothing.)
        let typed = "'rank > $(touch X) AND ti"
        let query = ["coral", "query", model, "--entity", "Note", "--where", typed]
        #expect(try offered(query) == ["rank > $(touch X) AND title"])
        expectNoTrap()
    }

    @Test func `names are completed in fish`() throws {
        // Fish completes in a terminal only: TAB lists the words, each with a description.
        let answer = try shell(
            "fish",
            """
            begin
                sleep 2; printf 'source ./completion\\r'
                sleep 1; printf 'coral model show Hostile.xcdatamodeld --entity \\t'
                # The first key closes the list, the second empties the line.
                sleep 4; printf '\\003'; sleep 1; printf '\\003'; sleep 1; printf 'exit\\r'; sleep 1
            end | TERM=xterm script -qec 'fish -i' /dev/null
            """)
        expectNoTrap()
        guard let answer else { return }
        let text = answer.joined(separator: "\n")
        #expect(text.contains("Note ") && text.contains("Größe "), "\(text)")
        #expect(!text.contains("touch") && !text.contains("a:b"), "\(text)")
    }

    @Test func `names are completed in zsh`() throws {
        // Zsh completes in a terminal only, which is created here: TAB lists the words.
        let answer = try shell(
            "zsh",
            """
            zmodload zsh/zpty
            zpty shell "PS1= TERM=dumb zsh -f -i"
            zpty -w shell "autoload -Uz compinit; compinit -u -D; source ./completion; compdef _coral coral; PS1=''; \\
            zstyle ':completion:*' list-prompt ''; LISTMAX=1000; bindkey '^I' complete-word; setopt autolist; echo rea''dy"
            zpty -r -m shell answer '*ready*' || true
            zpty -w -n shell $'coral model show \(model) --entity \\t'
            sleep 3
            zpty -r -t shell answer '*Note*' && print -r -- "$answer"
            zpty -d shell
            """)
        expectNoTrap()
        guard let answer else { return }
        let text = answer.joined(separator: "\n")
        #expect(text.contains("Note") && text.contains("Größe"), "\(text)")
        #expect(!text.contains("touch") && !text.contains("a:b"), "\(text)")
    }

    @Test func `words are quoted for each shell`() {
        #expect(CompletionWord.quoted("it's $x", for: .bash) == "'it'\\''s $x'")
        #expect(Array(CompletionWord.quoted("a'\u{301}$x", for: .bash).utf8) == Array("'a'\\''\u{301}$x'".utf8))
        #expect(Array(CompletionWord.quoted("a:\u{301}", for: .zsh).utf8) == Array("a\\:\u{301}".utf8))
        #expect(CompletionWord.words(["a"], after: "'\u{301}x.") == ["\u{301}x.a"])
        #expect(CompletionWord.quoted("a:b\\c", for: .zsh) == "a\\:b\\\\c")
        #expect(CompletionWord.quoted("a:b", for: .fish) == "a:b")
        #expect(CompletionWord.words(["b", "a-b", "a", "$a", "a\u{1B}", ""], after: "x.") == ["x.a", "x.b"])
        #expect(CompletionWord.words(["a"], after: "'x AND ") == ["x AND a"])
    }
}
