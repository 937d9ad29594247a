import ArgumentParser
import Foundation

/// Completions that are safe for a shell, made of names in a model.
///
/// A shell inserts a completion unchanged into the command line, and bash evaluates it first. Therefore only names without
/// characters that are special to a shell are offered, and the text that precedes them is quoted.
package enum CompletionWord {
    /// The names that are safe to offer, sorted, each appended to the text that has been typed.
    ///
    /// - Parameter ending: Text that follows each name, without characters that are special to a shell.
    package static func words(_ names: [String], after typed: String = "", before ending: String = "") -> [String] {
        guard !typed.contains(where: \.isNewline) else { return [] }
        // A leading quote is part of the shell's syntax; the shell compares and inserts the text inside it.
        let isQuoted = typed.utf8.first == UInt8(ascii: "'") || typed.utf8.first == UInt8(ascii: "\"")
        let start = isQuoted ? String(typed.unicodeScalars.dropFirst()) : typed
        return names.filter(isPlain).sorted().map { quoted(start + $0 + ending, for: CompletionShell.requesting) }
    }

    /// Whether a name consists of letters, digits and underscores.
    static func isPlain(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { scalar in
                scalar == "_" || ("0"..."9").contains(scalar) || scalar.properties.isAlphabetic
            }
    }

    /// A word in the form in which the completion script of a shell treats it as a literal.
    package static func quoted(_ word: String, for shell: CompletionShell?) -> String {
        switch shell {
        // The script passes the words to compgen -W, which expands unquoted text and then removes quotes.
        case .bash?: "'" + replacing("'", by: "'\\''", in: word) + "'"
        // A colon would start the description of the word.
        case .zsh?: replacing(":", by: "\\:", in: replacing("\\", by: "\\\\", in: word))
        default: word
        }
    }

    /// Replaces bytes, as a shell reads them: a quote and a combining mark are one `Character`.
    private static func replacing(_ mark: String, by replacement: String, in word: String) -> String {
        word.replacingOccurrences(of: mark, with: replacement, options: .literal)
    }
}
