import ArgumentParser
import Coral

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
