import Coral
import PredicateLanguage

/// Predicates from the command line.
enum Predicates {
    /// The predicate of a format.
    ///
    /// Throws `CommandError` with a syntax error or an unknown key, marked by a caret below it.
    ///
    /// - Parameter zone: The time zone of dates that do not state one; nil for UTC.
    static func predicate(
        _ format: String, for entity: NSEntityDescription, in zone: TimeZone? = nil
    ) throws -> NSPredicate {
        let tree: PredicateNode
        do {
            tree = try PredicateParser.parse(format)
        } catch let error as PredicateSyntaxError {
            throw CommandError("The predicate is invalid: \(error)")
        }
        let keys = KeyPathCheck(entity)
        for keyPath in tree.keyPaths { try keys.check(keyPath, in: format) }
        return try TypedConstants(entity: entity, format: format, zone: zone).typed(
            NSPredicate(format: format, argumentArray: nil))
    }
}

extension NSComparisonPredicate {
    /// Compares the value at a key path with a constant.
    convenience init(
        _ keyPath: String, _ type: Operator, _ value: Any?, modifier: Modifier = .direct
    ) {
        self.init(
            leftExpression: NSExpression(forKeyPath: keyPath), rightExpression: NSExpression(forConstantValue: value),
            modifier: modifier, type: type, options: [])
    }
}

/// Checks key paths against the properties of entities.
struct KeyPathCheck {
    private let entity: NSEntityDescription
    /// The keys that every object has in a store besides its properties.
    private static let builtIn: Set<String> = ["objectID", "self", "entity"]

    init(_ entity: NSEntityDescription) { self.entity = entity }

    /// Throws `CommandError` with a suggestion, and with a caret below the key in its text.
    ///
    /// Returns the property at the end of the path; nil for keys that are not in the model, such as `items.@count`.
    @discardableResult
    func check(_ keyPath: [String], in text: String) throws -> NSPropertyDescription? {
        var here = entity
        var found: NSPropertyDescription?
        for (index, key) in keyPath.enumerated() {
            // Operators such as @count have no property in the model.
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

    /// The property of the entity or of a subentity: the destination of a relationship may be either.
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

/// The line that the user typed, with a caret below a mistake.
enum Caret {
    /// Two lines, preceded by a line break, that mark the last key of a path; empty if the key is not found.
    static func below(_ keys: [String], in text: String) -> String {
        guard !text.contains("\n"), let column = column(of: keys, in: text) else { return "" }
        return "\n\(text)\n\(String(repeating: " ", count: column))^"
    }

    /// The column of the last key: after the other keys, or alone if they are replaced by a subquery's variable. Text
    /// in quotes is skipped.
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
