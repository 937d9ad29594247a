import Coral
import CoreData
import GraphDocuments

/// The repairs of one attribute: the values of a source attribute as values of a destination attribute.
package final class AttributeRepair: NSObject {
    /// The source attribute; nil if the destination attribute is new.
    package let sourceName: String?
    package let name: String
    private let before: GraphSchema.Attribute?
    private let after: GraphSchema.Attribute
    private let fill: GraphValue?
    /// The default value of the destination attribute, or null.
    private let initial: GraphValue
    private let isRequired: Bool
    /// Nil if the type does not change.
    private let narrowing: MigrationRepair.Narrowing?
    private let conversion = ValueConversion(ImportOptions())

    /// Throws ``MigrationError`` if a given value is not of the attribute's type.
    package init(
        from source: NSAttributeDescription?, to destination: NSAttributeDescription, repairs: [MigrationRepair]
    ) throws {
        sourceName = source?.name
        name = destination.name
        before = source.map(GraphSchema.Attribute.init)
        after = GraphSchema.Attribute(destination)
        initial = GraphValue(destination.defaultValue, declaredAs: after)
        isRequired = !destination.isOptional
        var fill: GraphValue?
        var narrowing: MigrationRepair.Narrowing?
        for repair in repairs where repair.attribute == destination.name {
            switch repair.rule {
            case .fill(_, let value): fill = try Self.converted(value, to: after, conversion)
            case .convert(_, .replace(let value)):
                narrowing = .replace(try Self.converted(value, to: after, conversion))
            case .convert(_, let other): narrowing = other
            case .deduplicate: break
            }
        }
        self.fill = fill
        self.narrowing = narrowing
    }

    private static func converted(
        _ value: GraphValue, to attribute: GraphSchema.Attribute, _ conversion: ValueConversion
    ) throws -> GraphValue {
        guard let converted = conversion.convert(value, to: attribute) else {
            throw MigrationError(
                .wrongRepair, "The value given for \"\(attribute.name)\" is not of its type, \(attribute.type).")
        }
        return converted
    }

    /// The result of the repairs for the value of a source object.
    package enum Outcome {
        /// The same value, converted to the attribute's new type if necessary; or the one that an inferred migration gives.
        case kept(GraphValue)
        /// Another value, or none.
        case changed(GraphValue)
        /// The value cannot be converted, and the repairs have no other value for it.
        case refused
    }

    /// The value of a source object for the destination attribute.
    package func outcome(for object: NSManagedObject) -> Outcome {
        // As in an inferred migration, a new attribute has its default value, and so has a required one without a value.
        guard let sourceName, let before else { return fill.map(Outcome.changed) ?? .kept(initial) }
        let value = GraphValue(object.value(forKey: sourceName), declaredAs: before)
        let missing = isRequired ? initial : .null
        if value.isNull { return fill.map(Outcome.changed) ?? .kept(missing) }
        if let converted = conversion.convert(value, to: after) { return .kept(converted) }
        switch narrowing {
        case nil, .fail: return .refused
        case .clamp: return Self.nearest(to: value, of: after.type).map(Outcome.changed) ?? .refused
        case .clear: return .changed(fill ?? missing)
        case .replace(let other): return .changed(other)
        }
    }

    /// The value for key-value coding.
    ///
    /// - Throws: ``MigrationError`` if it cannot be converted.
    package func value(for object: NSManagedObject) throws -> Any? {
        switch outcome(for: object) {
        case .kept(let value), .changed(let value):
            return try after.codec.object(for: value, folder: DocumentFolder(nil))
        case .refused:
            throw MigrationError(
                .wrongValue,
                "\(object.objectID.uriRepresentation().absoluteString): the value of \"\(sourceName ?? name)\" cannot be "
                    + "converted to \(after.type).")
        }
    }

    /// The number of an integer type that is nearest to a number; nil for other types and values.
    private static func nearest(to value: GraphValue, of type: GraphValueType) -> GraphValue? {
        guard let range = type.integerRange else { return nil }
        let number: Double
        switch value {
        case .integer(let value): return .integer(min(max(value, range.lowerBound), range.upperBound))
        case .double(let value): number = value
        case .float(let value): number = Double(value)
        case .decimal(let value): number = (value as NSDecimalNumber).doubleValue
        default: return nil
        }
        guard !number.isNaN else { return nil }
        let rounded = number.rounded()
        // Comparisons as floating-point numbers, because a conversion out of range traps.
        if rounded <= Double(range.lowerBound) { return .integer(range.lowerBound) }
        if rounded >= Double(range.upperBound) { return .integer(range.upperBound) }
        return .integer(Int64(rounded))
    }
}
