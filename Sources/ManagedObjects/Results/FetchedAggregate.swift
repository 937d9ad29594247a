import Foundation
import PredicateLanguage

/// A number that is made of an attribute of many objects.
public enum FetchedAggregate: String, Sendable, CaseIterable {
    /// The sum of the values; 0 without any.
    case sum
    /// The mean of the values; nil without any.
    case average
    /// The smallest value; nil without any.
    case minimum
    /// The greatest value; nil without any.
    case maximum

    private var function: String {
        switch self {
        case .sum: "sum:"
        case .average: "average:"
        case .minimum: "min:"
        case .maximum: "max:"
        }
    }

    /// The number for the objects that a request finds in a context: by the store, or over the objects where the context has
    /// unsaved changes, which the store does not see.
    ///
    /// - Throws: What a fetch throws, and code 134060 where the entity has no such attribute of numbers.
    func value(
        of attribute: String, over specification: FetchSpecification, in context: NSManagedObjectContext
    ) throws -> Decimal? {
        var specification = specification
        specification.sortDescriptors = nil
        guard let model = context.rootCoordinator?.managedObjectModel,
            let found = try specification.entity(in: model).attributesByName[attribute]
        else {
            throw CocoaError(.coreData, "The entity has no attribute “\(attribute)” to aggregate.")
        }
        let isWindow = specification.fetchLimit > 0 || specification.fetchOffset > 0
        if context.hasChanges || isWindow || found.isTransient {
            let objects = try context.fetchResults(specification).compactMap { $0 as? NSManagedObject }
            return over(objects.compactMap { Self.decimal($0.value(forKey: attribute)) })
        }
        let column = NSExpressionDescription()
        column.name = rawValue
        column.expression = NSExpression(
            forFunction: function, arguments: [NSExpression(forKeyPath: attribute)])
        column.expressionResultType = found.attributeType
        specification.resultType = .dictionaryResultType
        specification.propertiesToFetch = [column]
        let rows = try context.fetchResults(specification)
        let value = (rows.first as? NSDictionary).flatMap { Self.decimal($0[rawValue]) }
        return self == .sum ? value ?? 0 : value
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
        case .double(let value): Decimal(value)
        default: nil
        }
    }
}
