import Coral
import CoreData
import GraphDocuments

/// The checks of an attribute of the newer version.
enum AttributeChecks {
    static func checks(
        _ attribute: NSAttributeDescription, of entity: NSEntityDescription, from before: NSAttributeDescription?
    ) throws -> [RowRehearsalCheck] {
        // The store computes derived attributes.
        guard !(attribute is NSDerivedAttributeDescription) else { return [] }
        let name = entity.name
        let isFilled = attribute.isOptional || attribute.defaultValue != nil
        guard let before else {
            guard !isFilled else { return [] }
            return [
                RowRehearsalCheck(
                    .missingValue, name, attribute.name, isBreaking: true,
                    "The attribute is new and required, and has no default value. Declare one, or give the objects a value."
                ) { [$0.objectID] }
            ]
        }
        let key = before.name
        var checks: [RowRehearsalCheck] = []
        if before.attributeType != attribute.attributeType {
            let conversion = try AttributeRepair(
                from: before, to: attribute,
                repairs: [MigrationRepair("", .convert(attribute: attribute.name, .fail))])
            checks.append(
                RowRehearsalCheck(
                    .unconvertibleValue, name, attribute.name, isBreaking: true,
                    "The value is not a valid \(GraphValueType(attribute.attributeType)). Clamp, replace or remove "
                        + "such values."
                ) { object in
                    if case .refused = conversion.outcome(for: object) { [object.objectID] } else { [] }
                })
        }
        if !isFilled, before.isOptional {
            checks.append(
                RowRehearsalCheck(
                    .missingValue, name, attribute.name, isBreaking: true,
                    "The attribute becomes required and has no default value. Declare one, or give the objects a value."
                ) { $0.hasValue(forKey: key) ? [] : [$0.objectID] })
        }
        return checks
    }

    /// The checks of an attribute with repairs: the values that the repairs reject, and those that they change.
    static func repaired(
        _ attribute: NSAttributeDescription, of entity: NSEntityDescription, _ repair: AttributeRepair
    ) -> [RowRehearsalCheck] {
        let isRequired = !attribute.isOptional
        return [
            RowRehearsalCheck(
                .unconvertibleValue, entity.name, attribute.name, isBreaking: true,
                "The value cannot be converted, and the repair does not specify another value."
            ) { object in
                if case .refused = repair.outcome(for: object) { [object.objectID] } else { [] }
            },
            RowRehearsalCheck(
                .missingValue, entity.name, attribute.name, isBreaking: true,
                "The attribute is required, and the repair gives the objects no value."
            ) { object in
                switch repair.outcome(for: object) {
                case .kept(.null), .changed(.null): isRequired ? [object.objectID] : []
                default: []
                }
            },
            RowRehearsalCheck(
                .changedValue, entity.name, attribute.name, isBreaking: false, "The repair changes the value."
            ) { object in
                if case .changed = repair.outcome(for: object) { [object.objectID] } else { [] }
            },
        ]
    }
}

/// The checks of a relationship of the newer version.
enum RelationshipChecks {
    static func checks(
        _ relationship: NSRelationshipDescription, of entity: NSEntityDescription,
        from before: NSRelationshipDescription?
    ) -> [RowRehearsalCheck] {
        var checks: [RowRehearsalCheck] = []
        if let before, before.isToMany, !relationship.isToMany {
            let key = before.name
            checks.append(
                RowRehearsalCheck(
                    .tooManyDestinations, entity.name, relationship.name, isBreaking: true,
                    "The relationship becomes to-one, and the object has several destinations. A mapping model is needed."
                ) { $0.destinations(forKey: key).count > 1 ? [$0.objectID] : [] })
        }
        let (least, earlier) = (leastCount(of: relationship), before.map(leastCount) ?? 0)
        if least > earlier {
            let key = before?.name
            checks.append(
                RowRehearsalCheck(
                    .missingDestination, entity.name, relationship.name, isBreaking: false,
                    "The relationship is required and has too few destinations: after the migration the object cannot be saved "
                        + "until it has enough."
                ) { object in
                    let count = key.map { object.destinations(forKey: $0).count } ?? 0
                    return count < least ? [object.objectID] : []
                })
        }
        return checks
    }

    /// The minimum number of destinations of a relationship.
    private static func leastCount(of relationship: NSRelationshipDescription) -> Int {
        if relationship.isOptional { return 0 }
        return relationship.isToMany ? relationship.minCount : 1
    }
}

/// The checks of the objects of an entity that is removed.
struct RemovedEntityChecks {
    let checks: [RowRehearsalCheck]

    init(_ entity: NSEntityDescription, _ correspondence: ModelCorrespondence) {
        var checks = [
            RowRehearsalCheck(
                .removedObject, entity.name, nil, isBreaking: false, "The entity is removed, together with its objects."
            ) { [$0.objectID] }
        ]
        for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key })
        where relationship.deleteRule == .cascadeDeleteRule && !relationship.isTransient {
            guard let owned = relationship.destinationEntity, let kept = correspondence.destination(of: owned) else {
                continue
            }
            checks.append(
                RowRehearsalCheck(
                    .orphan, kept.name, nil, isBreaking: false,
                    "The objects belong to \(entity.name ?? "").\(name), which is removed: they remain without an owner."
                ) { object in
                    object.destinations(forKey: name).filter { correspondence.destination(of: $0.entity) != nil }
                        .map(\.objectID).sortedByName { $0 }
                })
        }
        self.checks = checks
    }
}
