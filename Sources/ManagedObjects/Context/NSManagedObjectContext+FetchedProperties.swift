import Foundation
import PredicateLanguage

// Fetched properties.

extension NSManagedObjectContext {
    /// The objects of a fetched property, fetched again each time. An error is reported on standard error, since a
    /// property's value cannot throw.
    final func fetchedValue(of property: NSFetchedPropertyDescription, source: NSManagedObject) -> [Any] {
        guard let request = property.fetchRequest else { return [] }
        do {
            var specification = request.specification
            let variables: [String: Any] = ["FETCH_SOURCE": source, "FETCHED_PROPERTY": property]
            if let node = specification.predicate?.withSubstitutionVariables(variables).node {
                // Key paths of the source and of the property are evaluated now: a store evaluates rows only.
                let read = try node.mapExpressions { expression in
                    guard case .keyPath(.constant, _) = expression else { return expression }
                    return .constant(value: try ExpressionEvaluator(expression).value(for: nil))
                }
                specification.predicate = NSPredicate.predicate(stating: read)
            }
            return try fetchResults(specification)
        } catch {
            report("could not fetch \(source.entity.name ?? "").\(property.name): \(error)")
            return []
        }
    }
}
