import CoreDataErrors
import Foundation
import FoundationAdditions
import ManagedObjects
import PredicateLanguage

/// Evaluates the value expressions of a mapping for a source and a destination instance.
///
/// Key paths, constants and calls of the manager and the policy are evaluated without conversion, so that values of
/// transformable attributes and the order of members are kept; other expressions by the evaluator of predicates.
struct MappingValues {
    let manager: NSMigrationManager
    let policy: NSEntityMigrationPolicy
    let mapping: NSEntityMapping
    let source: NSManagedObject?
    let destination: NSManagedObject?

    /// Sets the property of a mapping; a property without an expression keeps its value.
    func set(_ property: NSPropertyMapping) throws {
        guard let expression = property.valueExpression, let name = property.name, let destination else { return }
        do {
            guard let field = destination.field(of: name) else {
                throw CocoaError(
                    .migration, "The entity “\(destination.entity.name ?? "")” has no property “\(name)”.")
            }
            if try copyStoredValue(of: expression.node, to: name, at: field) { return }
            let value = try value(of: expression.node, property)
            try destination.setPublicValue(converted(value, for: field), at: field, primitive: false)
        } catch let error as UnacceptableValue {
            throw CocoaError(.migration, "\(field(of: property)): \(error)")
        } catch let error as PredicateEvaluationError {
            throw CocoaError(.migration, "\(field(of: property)): \(error)")
        }
    }

    private func field(of property: NSPropertyMapping) -> String {
        "The value of “\(property.name ?? "")” in the entity mapping “\(mapping.name ?? "")” cannot be computed"
    }

    // MARK: - Stored values

    /// Copies stored values that cannot be read or need not be decoded: references to missing files, and archives of
    /// transformable attributes. Returns false if the expression is not a key of the source, or the value must be read.
    private func copyStoredValue(
        of node: ExpressionNode, to name: String, at field: EntityLayout.Field
    ) throws -> Bool {
        guard case .keyPath(base: .variable(NSMigrationSourceObjectKey), let keys) = node, keys.count == 1, let source,
            let destination, case .slot(let slot) = field, let origin = source.entity.layout.slot(named: keys[0])
        else { return false }
        if let file = source.missingFile(forKey: keys[0]) { return destination.setMissingFile(file, forKey: name) }
        guard let attribute = source.entity.layout.slots[origin].attribute,
            let target = destination.entity.layout.slots[slot].attribute,
            source.entity.layout.slots[origin].kind == .transformable,
            destination.entity.layout.slots[slot].kind == .transformable,
            attribute.valueTransformerName == target.valueTransformerName
        else { return false }
        destination.setSlot(slot, to: source.slotValue(origin))
        return true
    }

    // MARK: - Values

    /// The value of an expression.
    func value(of node: ExpressionNode, _ property: NSPropertyMapping?) throws -> Any? {
        switch node {
        case .constant(let constant): return constant.value
        case .variable(let name):
            guard let value = variables(property)[name] else {
                throw PredicateEvaluationError(.unboundVariable, "There is no variable $\(name).")
            }
            return value
        case .keyPath(let base, let keys) where !keys.contains { $0.hasPrefix("@") }:
            var current = try value(of: base, property)
            for (index, key) in keys.enumerated() {
                guard let subject = current as? any PredicateSubject else {
                    if current == nil || current is NSNull { return nil }
                    return try ExpressionEvaluator(.keyPath(base: .evaluatedObject, keys: Array(keys[index...])))
                        .value(for: current)
                }
                current = try subject.predicateValue(forKey: key)
            }
            return current
        case .call(let receiver, let selector, let arguments):
            let receiver = try value(of: receiver, property)
            guard let subject = receiver as? any PredicateSubject,
                receiver is NSMigrationManager || receiver is NSEntityMigrationPolicy
            else { break }
            let result = try subject.predicateValue(
                calling: selector, with: arguments.map { try value(of: $0, property) })
            guard selector == MigrationFunction.relationshipInstances.rawValue, let property else { return result }
            return try members(result, of: property)
        case .conditional(let predicate, let then, let otherwise):
            let isTrue = try PredicateEvaluator(predicate).evaluate(nil, variables: variables(property))
            return try value(of: isTrue ? then : otherwise, property)
        default: break
        }
        return try ExpressionEvaluator(node).value(for: source, variables: variables(property))
    }

    /// The objects that may be members of a relationship: a source instance may have several destination instances, of
    /// several entities.
    private func members(_ value: Any?, of property: NSPropertyMapping) throws -> [NSManagedObject] {
        let relationship = destination?.entity.relationshipsByName[property.name ?? ""]
        guard let members = relationship?.destinationEntity else { return try Self.objects(in: value) }
        return try Self.objects(in: value).filter { $0.entity.isKindOf(entity: members) }
    }

    private func variables(_ property: NSPropertyMapping?) -> [String: Any?] {
        [
            NSMigrationManagerKey: manager, NSMigrationSourceObjectKey: source,
            NSMigrationDestinationObjectKey: destination, NSMigrationEntityMappingKey: mapping,
            NSMigrationPropertyMappingKey: property, NSMigrationEntityPolicyKey: policy,
        ]
    }

    /// A value converted to the form that the field requires: for a to-one relationship the only element of a
    /// collection, for a to-many relationship an object as its only member, for a composite attribute its own elements.
    private func converted(_ value: Any?, for field: EntityLayout.Field) throws -> Any? {
        guard let destination else { return value }
        switch field {
        case .slot(let slot) where destination.entity.layout.slots[slot].kind == .toOne:
            let objects = try Self.objects(in: value)
            guard objects.count < 2 else {
                throw PredicateEvaluationError(
                    .typeMismatch, "\(objects.count) objects cannot be the destination of a to-one relationship.")
            }
            return objects.first
        case .toMany(let index):
            let objects = try Self.objects(in: value)
            return destination.entity.layout.toMany[index].isOrdered
                ? NSOrderedSet(array: objects) : NSSet(array: objects)
        case .composite(let composite, _):
            return (value as? [String: Any]).map { Self.elements($0, of: composite) } ?? value
        default: return value
        }
    }

    /// The elements of a dictionary that a composite attribute has.
    private static func elements(
        _ dictionary: [String: Any], of composite: NSCompositeAttributeDescription
    ) -> [String: Any] {
        var kept: [String: Any] = [:]
        for element in composite.elements {
            guard let value = dictionary[element.name] else { continue }
            if let nested = element as? NSCompositeAttributeDescription, let dictionary = value as? [String: Any] {
                kept[element.name] = elements(dictionary, of: nested)
            } else {
                kept[element.name] = value
            }
        }
        return kept
    }

    /// The objects of a value: none, one, or the elements of a collection; those of a set in the order of their keys.
    static func objects(in value: Any?) throws -> [NSManagedObject] {
        switch value {
        case nil, is NSNull: return []
        case let object as NSManagedObject: return [object]
        case let set as NSOrderedSet: return try objects(set.array)
        case let set as NSSet: return try sorted(objects(set.allObjects))
        case let set as Set<AnyHashable>: return try sorted(objects(set.map(\.base)))
        case let array as [Any]: return try objects(array)
        case let array as NSArray: return try objects(array.map { $0 })
        default:
            throw PredicateEvaluationError(
                .typeMismatch, "A value of the type \(type(of: value)) is not a managed object.")
        }
    }

    private static func objects(_ values: [Any]) throws -> [NSManagedObject] {
        try values.map { value in
            guard let object = value as? NSManagedObject else {
                throw PredicateEvaluationError(
                    .typeMismatch, "A value of the type \(type(of: value)) is not a managed object.")
            }
            return object
        }
    }

    private static func sorted(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        objects.sorted { ($0.entity.layout.rootIndex, $0.key.number) < ($1.entity.layout.rootIndex, $1.key.number) }
    }
}

extension NSEntityMigrationPolicy: PredicateSubject {
    /// Throws: a policy has functions only.
    public func predicateValue(forKey key: String) throws -> Any? { try value(forFunction: key, arguments: []) }

    /// The value of a function: ``value(forFunction:arguments:)``.
    public func predicateValue(calling selector: String, with arguments: [Any?]) throws -> Any? {
        try value(forFunction: selector, arguments: arguments)
    }
}

/// The methods of a migration manager that value expressions call, by their selectors.
///
/// Source: a mapping model that Xcode has compiled. The second and third are not in Apple's documentation.
enum MigrationFunction: String {
    /// The destination instances that a mapping has created for source instances.
    case mappingInstances = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    /// The destination instances of source instances, whatever mapping has created them, for a relationship.
    case relationshipInstances = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    /// The source instances of destination instances of a mapping.
    case sourceInstances = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    /// A fetch request for the objects of an entity, without those of subentities.
    case fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
}

// The variables of value expressions, without the dollar sign.

/// The ``NSMigrationManager``: `$manager`.
public let NSMigrationManagerKey: String = "manager"

/// The source instance: `$source`. Nil if a destination instance was associated with none.
public let NSMigrationSourceObjectKey: String = "source"

/// The destination instance: `$destination`.
public let NSMigrationDestinationObjectKey: String = "destination"

/// The ``NSEntityMapping``: `$entityMapping`.
public let NSMigrationEntityMappingKey: String = "entityMapping"

/// The ``NSPropertyMapping``: `$propertyMapping`.
public let NSMigrationPropertyMappingKey: String = "propertyMapping"

/// The ``NSEntityMigrationPolicy``: `$entityPolicy`.
public let NSMigrationEntityPolicyKey: String = "entityPolicy"
