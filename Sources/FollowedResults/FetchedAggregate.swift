import CoreDataErrors
import Foundation
import FoundationAdditions
import ManagedObjects
import PredicateLanguage

/// A number that is computed from an attribute of many objects.
public enum FetchedAggregate: String, Sendable, CaseIterable {
    /// The sum of the values; 0 if there are none.
    case sum
    /// The mean of the values; nil if there are none.
    case average
    /// The smallest value; nil if there are none.
    case minimum
    /// The greatest value; nil if there are none.
    case maximum

    private var function: String {
        switch self {
        case .sum: "sum:"
        case .average: "average:"
        case .minimum: "min:"
        case .maximum: "max:"
        }
    }

    /// The number for the objects that a request matches in a context. The store computes it; if the context has
    /// unsaved changes, which the store does not contain, it is computed from the objects.
    ///
    /// - Throws: The errors of a fetch, and code 134060 if the entity has no numeric attribute of that name.
    func value(
        of attribute: String, over specification: FetchSpecification, in context: NSManagedObjectContext
    ) throws -> Decimal? {
        var specification = specification
        guard let model = context.rootCoordinator?.managedObjectModel,
            let found = try specification.entity(in: model).attributesByName[attribute]
        else {
            throw CocoaError(.coreData, "The entity has no attribute “\(attribute)” to aggregate.")
        }
        let isWindow = specification.fetchLimit > 0 || specification.fetchOffset > 0
        // The order determines which objects a limit and an offset select; otherwise it has no effect on the number.
        if !isWindow { specification.sortDescriptors = nil }
        if specification.includesPendingChanges && context.hasUnsavedChanges || isWindow || found.isTransient {
            // The values are read from objects, whatever the caller's request returns.
            specification.resultType = .managedObjectResultType
            let objects = try context.fetchResults(specification).compactMap { $0 as? NSManagedObject }
            return over(objects.compactMap { Self.decimal($0.value(forKey: attribute)) })
        }
        let column = NSExpressionDescription()
        column.name = rawValue
        column.expression = NSExpression(
            forFunction: function, arguments: [NSExpression(forKeyPath: attribute)])
        column.expressionResultType = resultType(of: found.attributeType)
        specification.resultType = .dictionaryResultType
        specification.propertiesToFetch = [column]
        let rows = try context.fetchResults(specification)
        let value = (rows.first as? NSDictionary).flatMap { Self.decimal($0[rawValue]) }
        return self == .sum ? value ?? 0 : value
    }

    /// The type of the number for values of an attribute's type. A sum may exceed the range of the values, and the average of integers
    /// has a fraction.
    private func resultType(of type: NSAttributeType) -> NSAttributeType {
        switch (self, type) {
        case (.minimum, _), (.maximum, _): type
        case (.sum, .integer16AttributeType), (.sum, .integer32AttributeType), (.sum, .integer64AttributeType),
            (.sum, .booleanAttributeType):
            .integer64AttributeType
        case (.sum, .floatAttributeType), (.sum, .doubleAttributeType): .doubleAttributeType
        case (.sum, .decimalAttributeType): .decimalAttributeType
        // The type of the expression's value.
        case (.sum, _), (.average, _): .undefinedAttributeType
        }
    }

    private func over(_ values: [Decimal]) -> Decimal? {
        switch self {
        case .sum: values.reduce(0, +)
        case .average: values.isEmpty ? nil : values.reduce(0, +) / Decimal(values.count)
        case .minimum: values.min()
        case .maximum: values.max()
        }
    }

    private static func decimal(_ value: Any?) -> Decimal? {
        switch PredicateValue(value) {
        case .bool(let value): value ? 1 : 0
        case .integer(let value): Decimal(value)
        case .decimal(let value): value
        case .double(let value): Decimal(shortestOf: value)
        default: nil
        }
    }
}
