import ArgumentParser
import Coral
import Foundation

/// Completions for the shell: names in the model of the store or model file on the command line.
enum Completion {
    /// Files that are stores.
    static let stores = CompletionKind.file(extensions: ["sqlite", "sqlite3", "db", "store", "storedata"])
    /// Stores, and models of any kind.
    static let models = CompletionKind.file(
        extensions: ["xcdatamodeld", "xcdatamodel", "momd", "mom", "sqlite", "sqlite3", "db", "store", "storedata"])

    /// Entities.
    static let entities = CompletionKind.custom { words, _, _ in
        CompletionWord.words(model(in: words)?.entities.compactMap(\.name) ?? [])
    }

    /// `Entity` or `Entity.property`.
    static let properties = CompletionKind.custom { words, _, prefix in
        guard let model = model(in: words) else { return [] }
        let names = model.entitiesByName
        guard let entity = prefix.split(separator: ".").first.flatMap({ names[String($0)] }), prefix.contains(".")
        else { return CompletionWord.words(Array(names.keys)) }
        return CompletionWord.words(Array(entity.propertiesByName.keys), after: "\(entity.name ?? "").")
    }

    /// Objects: an entity, and the beginning of a key.
    static let objects = CompletionKind.custom { words, _, prefix in
        guard !prefix.contains("/") else { return [] }
        return CompletionWord.words(model(in: words)?.entities.compactMap(\.name) ?? [], before: "/p")
    }

    /// Key paths of the entity of `--entity`, for the last word on the command line: a predicate, or a list of keys.
    static let keyPaths = CompletionKind.custom { words, _, prefix in
        // Entities do not retain their model.
        guard let model = model(in: words) else { return [] }
        return withExtendedLifetime(model) { keyPaths(continuing: prefix, from: entity(in: words, of: model)) }
    }

    private static func keyPaths(continuing prefix: String, from entity: NSEntityDescription?) -> [String] {
        guard var here = entity else { return [] }
        let start = prefix.lastIndex { " ,('\"".contains($0) }.map { prefix.index(after: $0) } ?? prefix.startIndex
        let keys = prefix[start...].split(separator: ".", omittingEmptySubsequences: false).dropLast().map(String.init)
        for key in keys {
            guard let next = here.relationshipsByName[key]?.destinationEntity else { return [] }
            here = next
        }
        let typed = prefix[..<start] + keys.map { $0 + "." }.joined()
        return CompletionWord.words(Array(here.propertiesByName.keys), after: String(typed))
    }

    private static func entity(in words: [String], of model: NSManagedObjectModel) -> NSEntityDescription? {
        var name: String?
        for (index, word) in words.enumerated() {
            if word == "--entity", index + 1 < words.count { name = words[index + 1] }
            if word.hasPrefix("--entity=") { name = String(word.dropFirst("--entity=".count)) }
        }
        return name.flatMap { model.entitiesByName[$0] }
    }

    /// The model of the first word that names one. `--model` takes precedence over the store.
    private static func model(in words: [String]) -> NSManagedObjectModel? {
        var paths = words.filter { !$0.hasPrefix("-") }
        if let index = words.firstIndex(of: "--model"), index + 1 < words.count {
            paths.insert(words[index + 1], at: 0)
        }
        // The first word is the path of the command itself.
        for path in paths where path != words.first {
            let plain = path.trimmingCharacters(in: CharacterSet(charactersIn: "'\""))
            if let model = try? ModelSource.model(at: plain) { return model }
        }
        return nil
    }
}

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

/// Words of command lines in messages.
enum ShellWord {
    /// A word as a shell takes it: in quotation marks if it has characters that plain paths do not have.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.isASCII && ($0.value >= 48 && $0.value <= 57)
                    || "/._-+,:=@%".unicodeScalars.contains($0)
            }
        return isPlain ? word : "'\(word.replacingOccurrences(of: "'", with: "'\\''", options: .literal))'"
    }

    /// A line of words.
    static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }
}
