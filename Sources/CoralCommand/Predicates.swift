import Coral
import PredicateLanguage

/// Predicates from the command line.
enum Predicates {
    /// The predicate of a format.
    ///
    /// Throws `CommandError` that shows a syntax error with a caret below it, and one that names keys which the entity does
    /// not have, with a suggestion.
    static func predicate(_ format: String, for entity: NSEntityDescription) throws -> NSPredicate {
        do {
            _ = try PredicateParser.parse(format)
        } catch let error as PredicateSyntaxError {
            throw CommandError("The predicate cannot be read: \(error)")
        }
        let predicate = NSPredicate(format: format, argumentArray: nil)
        try PredicateKeys(entity).check(predicate, in: format)
        return predicate
    }
}

/// Finds keys in a predicate that an entity does not have.
private struct PredicateKeys {
    let entity: NSEntityDescription

    init(_ entity: NSEntityDescription) { self.entity = entity }

    func check(_ predicate: NSPredicate, in format: String) throws {
        var pending = [predicate]
        while let predicate = pending.popLast() {
            if let compound = predicate as? NSCompoundPredicate {
                pending += compound.subpredicates.compactMap { $0 as? NSPredicate }
            } else if let comparison = predicate as? NSComparisonPredicate {
                for side in [comparison.leftExpression, comparison.rightExpression]
                where side.expressionType == .keyPath {
                    try check(side.keyPath, in: format)
                }
            }
        }
    }

    private func check(_ keyPath: String, in format: String) throws {
        var here = entity
        for key in keyPath.split(separator: ".").map(String.init) {
            // Operators such as @count end what the model knows.
            if key.hasPrefix("@") || key.uppercased() == "SELF" { return }
            if let property = here.propertiesByName[key] {
                guard let destination = (property as? NSRelationshipDescription)?.destinationEntity else { return }
                here = destination
                continue
            }
            if ["objectID", "self", "entity", "isDeleted", "isInserted", "hasChanges"].contains(key) { return }
            // A relationship may lead to an entity that inherits what its destination does not have.
            if here.subentities.contains(where: { $0.propertiesByName[key] != nil }) { return }
            throw CommandError(
                "\(here.name ?? "") has no property \"\(key)\"."
                    + NameSuggestion.question(for: key, in: here.propertiesByName.keys) + caret(under: key, in: format))
        }
    }

    private func caret(under key: String, in format: String) -> String {
        guard let place = format.range(of: key), !format.contains("\n") else { return "" }
        let column = format.distance(from: format.startIndex, to: place.lowerBound)
        return "\n\(format)\n\(String(repeating: " ", count: column))^"
    }
}
