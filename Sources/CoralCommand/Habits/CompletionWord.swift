import ArgumentParser
import Foundation

/// Words that the shell is offered, made of names that a model chose.
///
/// A shell puts a word on the command line as it is, and bash evaluates it before. So names are offered only where they have no
/// character that means anything to a shell, and what was typed before them is quoted.
package enum CompletionWord {
    /// The names that are safe to offer, sorted, each after what has been typed already.
    package static func words(_ names: [String], after typed: String = "") -> [String] {
        guard !typed.contains(where: \.isNewline) else { return [] }
        // A quote that the word begins with is the shell's, which compares and inserts what stands inside it.
        let isQuoted = typed.hasPrefix("'") || typed.hasPrefix("\"")
        let start = isQuoted ? String(typed.dropFirst()) : typed
        return names.filter(isPlain).sorted().map { quoted(start + $0, for: CompletionShell.requesting) }
    }

    /// Whether a name consists of letters, digits and underscores.
    static func isPlain(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { scalar in
                scalar == "_" || ("0"..."9").contains(scalar) || scalar.properties.isAlphabetic
            }
    }

    /// A word as the completion script of a shell takes it for a literal.
    package static func quoted(_ word: String, for shell: CompletionShell?) -> String {
        switch shell {
        // The script hands the words to compgen -W, which removes quotes after it has expanded what is not quoted.
        case .bash?: "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
        // A colon would begin the description of the word.
        case .zsh?:
            word.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: ":", with: "\\:")
        default: word
        }
    }
}
