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
        let date = UnquotedDate(in: format)
        do {
            tree = try PredicateParser.parse(format)
        } catch let error as PredicateSyntaxError {
            throw CommandError("The predicate is invalid: \(error)\(date.map { "\n\($0.advice)" } ?? "")")
        }
        let keys = KeyPathCheck(entity)
        try keys.checkCounts(in: format)
        for keyPath in tree.keyPaths {
            let property = try keys.check(keyPath, in: format) as? NSAttributeDescription
            if let date, property?.attributeType == .dateAttributeType {
                throw CommandError(date.advice + Caret.under(date.column, of: format))
            }
        }
        return try TypedConstants(entity: entity, format: format, zone: zone).typed(
            NSPredicate(format: format, argumentArray: nil))
    }
}

/// Finds parts of a predicate that are not in quotes.
enum UnquotedText {
    private static let quoted = #""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"#

    /// The matches of a pattern outside quotes, each with the place of its first group, if that has matched.
    static func matches(
        of pattern: String, in format: String
    ) -> [(place: Range<String.Index>, group: Range<String.Index>?)] {
        let expression = try? NSRegularExpression(pattern: "\(quoted)|\(pattern)")
        let found = expression?.matches(in: format, range: NSRange(format.startIndex..., in: format)) ?? []
        return found.compactMap { match in
            guard let place = Range(match.range, in: format), !"\"'".contains(format[place.lowerBound]) else {
                return nil
            }
            return (place, match.numberOfRanges > 1 ? Range(match.range(at: 1), in: format) : nil)
        }
    }
}

/// A date outside quotes, which the predicate language reads as a subtraction: `2024-02-29` is 1993.
private struct UnquotedDate {
    let text: String
    /// The number of characters before it.
    let column: Int

    /// The first one in a predicate; nil if there is none.
    init?(in format: String) {
        let pattern = #"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}[\d:.Z]*)?"#
        guard let place = UnquotedText.matches(of: pattern, in: format).first?.place else { return nil }
        text = String(format[place])
        column = format.distance(from: format.startIndex, to: place.lowerBound)
    }

    var advice: String { "A date is written in quotes: \"\(text)\"." }
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
    static let builtIn: Set<String> = ["objectID", "self", "SELF", "entity"]

    init(_ entity: NSEntityDescription) { self.entity = entity }

    /// The keys of a path. Points without a name between them give an empty key, which `check(_:in:)` refuses.
    static func keys(of path: String) -> [String] {
        path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// Throws `CommandError` with a suggestion, and with a caret below the key in its text.
    ///
    /// Returns the property at the end of the path; nil for keys that are not in the model, such as `items.@count`.
    @discardableResult
    func check(_ keyPath: [String], in text: String) throws -> NSPropertyDescription? {
        guard !keyPath.contains("") else {
            throw CommandError(
                "\"\(keyPath.joined(separator: "."))\" is not a key path: a name is missing. Given was \"\(text)\".")
        }
        var here = entity
        var found: NSPropertyDescription?
        for (index, key) in keyPath.enumerated() {
            // Operators such as @count have no property in the model.
            if key.hasPrefix("@") || key.uppercased() == "SELF" { return nil }
            guard let property = property(key, of: here) else {
                if Self.builtIn.contains(key) { return nil }
                if key == "count", let members = found as? NSRelationshipDescription, members.isToMany {
                    let path = keyPath[..<index].joined(separator: ".")
                    throw CommandError(
                        "The number of objects is written as \(path).@count."
                            + Caret.below(Array(keyPath[...index]), in: text))
                }
                throw CommandError(
                    "\(here.name ?? "") has no property \"\(key)\"."
                        + NameSuggestion.advice(for: key, in: here.propertiesByName.keys)
                        + Caret.below(Array(keyPath[...index]), in: text))
            }
            found = property
            if let destination = (property as? NSRelationshipDescription)?.destinationEntity {
                here = destination
            } else {
                if let attribute = property as? NSAttributeDescription {
                    let name = "\(here.name ?? "").\(key)"
                    try checkElements(keyPath, after: index, of: GraphSchema.Attribute(attribute), name, in: text)
                }
                return property
            }
        }
        return found
    }

    /// Checks what `@count` follows, which otherwise only the evaluation of the predicate would find out.
    ///
    /// Throws `CommandError` with a caret, unless it follows a to-many relationship, a subquery or a variable.
    func checkCounts(in text: String) throws {
        let pattern = #"((?:[\w$]+\.)*)@count\b"#
        for (place, group) in UnquotedText.matches(of: pattern, in: text) {
            let path = group.map { text[$0].split(separator: ".").map(String.init) } ?? []
            let column = text.distance(from: text.startIndex, to: place.upperBound) - "@count".count
            guard let first = path.first else {
                // The dot after a parenthesis or a bracket is not part of a path.
                if place.lowerBound > text.startIndex, text[text.index(before: place.lowerBound)] == "." { continue }
                throw CommandError(
                    "@count follows a relationship with several objects\(example)." + Caret.under(column, of: text))
            }
            guard !first.hasPrefix("$"), let property = try check(path, in: text) else { continue }
            if (property as? NSRelationshipDescription)?.isToMany == true || path.count > 1 { continue }
            throw CommandError(
                "\(path.joined(separator: ".")) is one value: @count follows a relationship with several objects\(example)."
                    + Caret.under(column, of: text))
        }
    }

    /// A relationship of the entity that can be counted, as an example.
    private var example: String {
        let names = entity.relationshipsByName.filter { $0.value.isToMany }.keys
        return names.min().map { ", such as \($0).@count" } ?? ""
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

    /// Throws `CommandError` unless the keys that follow an attribute in the path name its elements, each inside the one before.
    /// What a transformable attribute contains is not in the model.
    private func checkElements(
        _ keyPath: [String], after index: Int, of attribute: GraphSchema.Attribute, _ name: String, in text: String
    ) throws {
        guard attribute.type != .transformable, index + 1 < keyPath.count else { return }
        let key = keyPath[index + 1]
        guard !key.hasPrefix("@") else { return }
        if let element = attribute.elements.first(where: { $0.name == key }) {
            return try checkElements(keyPath, after: index + 1, of: element, "\(name).\(key)", in: text)
        }
        let reason =
            attribute.type == .composite
            ? "\(name) has no element \"\(key)\"." + NameSuggestion.advice(for: key, in: attribute.elements.map(\.name))
            : "\(name) is an attribute: no key can follow it."
        throw CommandError(reason + Caret.below(Array(keyPath[...(index + 1)]), in: text))
    }
}

/// The line that the user typed, with a caret below a mistake.
enum Caret {
    /// Two lines, preceded by a line break, that mark a column; empty for a text of several lines.
    static func under(_ column: Int, of text: String) -> String {
        text.contains("\n") ? "" : "\n\(text)\n\(String(repeating: " ", count: column))^"
    }

    /// Two lines, preceded by a line break, that mark the last key of a path; empty if the key is not found.
    static func below(_ keys: [String], in text: String) -> String {
        column(of: keys, in: text).map { under($0, of: text) } ?? ""
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
