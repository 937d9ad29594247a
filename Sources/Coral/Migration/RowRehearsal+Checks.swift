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
                repairs: [MigrationRepair("", .convert(attribute: attribute.name, .refuse))])
            checks.append(
                RowRehearsalCheck(
                    .unconvertibleValue, name, attribute.name, isBreaking: true,
                    "The value is no \(GraphValueType(attribute.attributeType)) value. Clamp, replace or remove such values."
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

    /// The checks of an attribute with repairs: which values they refuse, and which they change.
    static func repaired(
        _ attribute: NSAttributeDescription, of entity: NSEntityDescription, _ repair: AttributeRepair
    ) -> [RowRehearsalCheck] {
        let isRequired = !attribute.isOptional
        return [
            RowRehearsalCheck(
                .unconvertibleValue, entity.name, attribute.name, isBreaking: true,
                "The repair does not say what becomes of the value."
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
                        + "before it has more."
                ) { object in
                    let count = key.map { object.destinations(forKey: $0).count } ?? 0
                    return count < least ? [object.objectID] : []
                })
        }
        return checks
    }

    /// The number of destinations that a relationship must have.
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
                .removedObject, entity.name, nil, isBreaking: false, "The entity is removed, and with it the objects."
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
                        .map(\.objectID).sorted { ObjectName($0) < ObjectName($1) }
                })
        }
        self.checks = checks
    }
}

/// Finds objects with equal values of a uniqueness constraint that is new. Memory: the values of all objects.
final class UniquenessRehearsal {
    private let entity: NSEntityDescription
    private let names: [String]
    private let correspondence: ModelCorrespondence
    private var met: Set<[GraphValue]> = []
    let check: RowRehearsalCheck

    private init(_ entity: NSEntityDescription, _ names: [String], _ correspondence: ModelCorrespondence) {
        self.entity = entity
        self.names = names
        self.correspondence = correspondence
        let list = names.joined(separator: ",")
        check = RowRehearsalCheck(
            .notUnique, entity.name, list, isBreaking: true,
            "Another object has equal values, and a new uniqueness constraint forbids that. Merge or change the objects."
        ) { _ in [] }
    }

    /// The constraints that the newer version has and the older has not.
    static func new(in correspondence: ModelCorrespondence) -> [UniquenessRehearsal] {
        correspondence.destination.sortedEntities.flatMap { after in
            constraints(of: after).compactMap { names in
                if let before = correspondence.source(of: after) {
                    let sources = correspondence.properties(from: before, to: after)
                    let old = Set(names.compactMap { sources[$0] })
                    let known = sequence(first: before) { $0.superentity }.flatMap(constraints(of:)).map(Set.init)
                    if old.count == names.count, known.contains(old) { return nil }
                }
                return UniquenessRehearsal(after, names, correspondence)
            }
        }
    }

    private static func constraints(of entity: NSEntityDescription) -> [[String]] {
        entity.uniquenessConstraints.map { constraint in
            constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
        }.filter { !$0.isEmpty }
    }

    /// Whether the constraint applies to the objects of a source entity.
    func concerns(_ source: NSEntityDescription) -> Bool {
        correspondence.destination(of: source)?.isKindOf(entity: entity) ?? false
    }

    /// The object if an earlier one has the same values. Objects without one of the values may be repeated.
    func duplicates(_ object: NSManagedObject) -> [NSManagedObjectID] {
        guard let after = correspondence.destination(of: object.entity) else { return [] }
        let sources = correspondence.properties(from: object.entity, to: after)
        var key: [GraphValue] = []
        for name in names {
            let value: GraphValue
            if let source = sources[name], let relationship = object.entity.relationshipsByName[source] {
                let destination = relationship.isToMany ? nil : object.value(forKey: source) as? NSManagedObject
                value = destination.map { .uri($0.objectID.uriRepresentation().absoluteString) } ?? .null
            } else if let source = sources[name], let attribute = object.entity.attributesByName[source] {
                value = GraphValue(object.value(forKey: source), declaredAs: GraphSchema.Attribute(attribute))
            } else if let attribute = after.attributesByName[name] {
                // A new attribute: all objects get the default value.
                value = GraphValue(attribute.defaultValue, declaredAs: GraphSchema.Attribute(attribute))
            } else {
                value = .null
            }
            if value.isNull { return [] }
            key.append(value)
        }
        return met.insert(key).inserted ? [] : [object.objectID]
    }
}
