import CoreData
import GraphDocuments

/// A relationship that must have at least one or `minCount` destinations.
package struct ImportRequirement: Hashable {
    /// The topmost entity with the relationship.
    package let entity: String
    package let relationship: String
    package let isToMany: Bool
    package let minCount: Int
    /// The code of the validation error.
    private let ruleCode: Int

    package init(
        _ relationship: NSRelationshipDescription, of entity: NSEntityDescription,
        ruleCode: Int = NSValidationMissingMandatoryPropertyError
    ) {
        let name = relationship.name
        let eldest = sequence(first: entity, next: \.superentity).reversed().first {
            $0.relationshipsByName[name] != nil
        }
        self.entity = eldest?.name ?? entity.name ?? ""
        self.relationship = name
        isToMany = relationship.isToMany
        minCount = max(relationship.minCount, 1)
        self.ruleCode = ruleCode
    }

    /// Creates the requirement that a validation error reports as violated. Nil for errors other than a required
    /// relationship with too few destinations.
    package init?(_ error: NSError, of entity: NSEntityDescription, _ property: String) {
        guard
            [NSValidationMissingMandatoryPropertyError, NSValidationRelationshipLacksMinimumCountError]
                .contains(error.code), let relationship = entity.relationshipsByName[property]
        else { return nil }
        self.init(relationship, of: entity, ruleCode: error.code)
    }

    /// The IDs of the objects in the store that do not meet the requirement. One statement.
    package func violations(in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        request.resultType = .managedObjectIDResultType
        request.predicate =
            isToMany
            ? NSPredicate(format: "%K.@count < %d", argumentArray: [relationship, minCount])
            : NSPredicate(format: "%K == nil", argumentArray: [relationship])
        return try context.fetch(request)
    }

    /// The error of an object that does not meet the requirement.
    package func error(of object: NSManagedObjectID, record: RecordID?) -> ImportError {
        let entity = object.entity.name ?? entity
        return ImportError(
            .invalidObject, Self.message(entity, relationship), record: record, entity: entity, property: relationship,
            object: object.uriRepresentation().absoluteString, ruleCode: ruleCode)
    }

    /// The message of an error about a required property without a value.
    package static func message(_ entity: String, _ property: String) -> String {
        "\(entity).\(property) is required and has no value."
    }
}

/// The objects that lacked required relationships when they were written, in an import that does not hold the whole
/// document. A later record may still set the relationships, so they are checked after the last record.
///
/// The objects include some that are not in the document: those whose destination a record has moved to another object.
package struct OpenRequirements<Object: Hashable, Record> {
    private var objects: [ImportRequirement: [Object: Record?]] = [:]

    package init() {}

    /// Adds an object that lacks a relationship.
    ///
    /// - Parameter record: The object's record; nil for an object that was changed by the record of another one.
    package mutating func add(_ requirement: ImportRequirement, of object: Object, record: Record?) {
        if let known = objects[requirement]?[object], known != nil { return }
        objects[requirement, default: [:]].updateValue(record, forKey: object)
    }

    /// The objects that still lack a relationship, sorted by relationship.
    ///
    /// - Parameter lacking: Returns those of the given objects that lack the relationship now, in order. Called once for each
    ///   relationship.
    package func violations<Found>(
        _ lacking: (ImportRequirement, Dictionary<Object, Record?>.Keys) throws -> [(Object, Found)]
    ) rethrows -> [(requirement: ImportRequirement, object: Found, record: Record?)] {
        let sorted = objects.sorted { ($0.key.entity, $0.key.relationship) < ($1.key.entity, $1.key.relationship) }
        return try sorted.flatMap { requirement, records in
            try lacking(requirement, records.keys).map { object, found in
                (requirement, found, records[object].flatMap { $0 })
            }
        }
    }
}
