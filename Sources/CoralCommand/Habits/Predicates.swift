import Coral
import PredicateLanguage

/// Predicates from the command line.
enum Predicates {
    /// The predicate of a format.
    ///
    /// Throws `CommandError` that shows a syntax error, or a key that the entity does not have, with a caret below it.
    static func predicate(_ format: String, for entity: NSEntityDescription) throws -> NSPredicate {
        let tree: PredicateNode
        do {
            tree = try PredicateParser.parse(format)
        } catch let error as PredicateSyntaxError {
            throw CommandError("The predicate cannot be read: \(error)")
        }
        let keys = KeyPathCheck(entity)
        for keyPath in tree.keyPaths { try keys.check(keyPath, in: format) }
        return try TypedConstants(entity: entity, format: format).typed(NSPredicate(format: format, argumentArray: nil))
    }
}

/// Finds keys that the objects of an entity do not have.
struct KeyPathCheck {
    private let entity: NSEntityDescription
    /// What a store can say of every object besides its properties.
    private static let builtIn: Set<String> = ["objectID", "self", "entity"]

    init(_ entity: NSEntityDescription) { self.entity = entity }

    /// Throws `CommandError` with a suggestion, and with a caret under the key in the text that it stands in.
    ///
    /// Returns the property that the path ends with; nil for what is not the model's, such as `items.@count`.
    @discardableResult
    func check(_ keyPath: [String], in text: String) throws -> NSPropertyDescription? {
        var here = entity
        var found: NSPropertyDescription?
        for (index, key) in keyPath.enumerated() {
            // Operators such as @count end what the model knows.
            if key.hasPrefix("@") || key.uppercased() == "SELF" { return nil }
            guard let property = property(key, of: here) else {
                if Self.builtIn.contains(key) { return nil }
                throw CommandError(
                    "\(here.name ?? "") has no property \"\(key)\"."
                        + NameSuggestion.question(for: key, in: here.propertiesByName.keys)
                        + Caret.below(Array(keyPath[...index]), in: text))
            }
            found = property
            if let destination = (property as? NSRelationshipDescription)?.destinationEntity {
                here = destination
            } else if (property as? NSAttributeDescription)?.attributeType != .some(.transformableAttributeType),
                index + 1 < keyPath.count, !keyPath[index + 1].hasPrefix("@"), !isComposite(property)
            {
                throw CommandError(
                    "\(here.name ?? "").\(key) is an attribute: no key can follow it."
                        + Caret.below(Array(keyPath[...(index + 1)]), in: text))
            } else {
                return property
            }
        }
        return found
    }

    /// The property, of the entity or of one that inherits from it: a relationship may lead to either.
    private func property(_ key: String, of entity: NSEntityDescription) -> NSPropertyDescription? {
        var pending = [entity]
        while let next = pending.popLast() {
            if let property = next.propertiesByName[key] { return property }
            pending += next.subentities
        }
        return nil
    }

    private func isComposite(_ property: NSPropertyDescription) -> Bool {
        guard let attribute = property as? NSAttributeDescription else { return false }
        return GraphSchema.Attribute(attribute).type == .composite
    }
}

/// The line of what somebody typed, with a caret under a mistake.
enum Caret {
    /// Two lines, with a line break before them, that point to the last key of a path; nothing where it is not found.
    static func below(_ keys: [String], in text: String) -> String {
        guard !text.contains("\n"), let column = column(of: keys, in: text) else { return "" }
        return "\n\(text)\n\(String(repeating: " ", count: column))^"
    }

    /// Where the last key stands: after the others, or, where a subquery's variable stands for them, by itself. What is
    /// within quotes is no key.
    private static func column(of keys: [String], in text: String) -> Int? {
        guard let last = keys.last else { return nil }
        let characters = Array(text)
        for wanted in [Array(keys.joined(separator: ".")), Array(last)] {
            var quote: Character?
            for index in characters.indices {
                let character = characters[index]
                if let open = quote {
                    if character == open { quote = nil }
                    continue
                }
                if character == "'" || character == "\"" { quote = character }
                let end = index + wanted.count
                guard end <= characters.count, characters[index..<end].elementsEqual(wanted) else { continue }
                let isWhole = end == characters.count || !isPart(characters[end])
                guard isWhole, index == 0 || !isPart(characters[index - 1]) else { continue }
                return end - last.count
            }
        }
        return nil
    }

    private static func isPart(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}
