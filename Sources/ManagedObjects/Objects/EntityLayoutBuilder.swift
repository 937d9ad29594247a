import Foundation

// Lays out an entity: superentities first, at each level its own properties sorted by name, then hidden slots. Used
// only by `EntityLayout`.
struct EntityLayoutBuilder {
    private(set) var slots: [EntityLayout.Slot] = []
    private(set) var toMany: [EntityLayout.ToMany] = []
    private(set) var fields: [String: EntityLayout.Field] = [:]
    private let inverselessRelationships: InverselessRelationships

    init(_ inverselessRelationships: InverselessRelationships) {
        self.inverselessRelationships = inverselessRelationships
    }

    mutating func add(_ entity: NSEntityDescription) {
        var lineage: [NSEntityDescription] = []
        var ancestor: NSEntityDescription? = entity
        while let level = ancestor {
            lineage.append(level)
            ancestor = level.superentity
        }
        for level in lineage.reversed() { addLevel(level) }
    }

    private mutating func addLevel(_ entity: NSEntityDescription) {
        // Those of the levels above are in `fields`; a property that an entity declares again is theirs.
        let properties = entity.sortedOwnProperties.filter { fields[$0.name] == nil }
        for property in properties {
            switch property {
            case let composite as NSCompositeAttributeDescription:
                let first = slots.count
                addElements(of: composite, path: composite.name)
                fields[composite.name] = .composite(composite, first..<slots.count)
            case let attribute as NSAttributeDescription:
                fields[attribute.name] = .slot(slots.count)
                slots.append(Self.slot(for: attribute, name: attribute.name))
            case let fetched as NSFetchedPropertyDescription:
                fields[fetched.name] = .fetched(fetched)
            default: break
            }
        }
        let relationships = properties.compactMap { $0 as? NSRelationshipDescription }
        for relationship in relationships where !relationship.isToMany {
            fields[relationship.name] = .slot(slots.count)
            slots.append(
                EntityLayout.Slot(
                    kind: .toOne, property: relationship, name: relationship.name,
                    destination: relationship.destinationEntity, isPersistent: !relationship.isTransient,
                    initial: .null))
        }
        for relationship in relationships where !relationship.isToMany && !relationship.isTransient {
            if let inverse = relationship.inverseRelationship, inverse.isToMany, inverse.isOrdered {
                slots.append(Self.position(of: relationship))
            }
        }
        for relationship in inverselessRelationships[entity] {
            slots.append(
                EntityLayout.Slot(
                    kind: .toOne, property: relationship, name: nil, destination: relationship.entity,
                    isPersistent: true, initial: .null))
            if relationship.isOrdered { slots.append(Self.position(of: relationship)) }
        }
        for relationship in relationships where relationship.isToMany {
            fields[relationship.name] = .toMany(toMany.count)
            toMany.append(
                EntityLayout.ToMany(
                    relationship: relationship, name: relationship.name, isOrdered: relationship.isOrdered,
                    isPersistent: !relationship.isTransient,
                    destination: relationship.destinationEntity ?? entity))
        }
    }

    private mutating func addElements(of composite: NSCompositeAttributeDescription, path: String) {
        for element in composite.elements {
            let elementPath = path + "." + element.name
            if let nested = element as? NSCompositeAttributeDescription {
                let first = slots.count
                addElements(of: nested, path: elementPath)
                fields[elementPath] = .composite(nested, first..<slots.count)
            } else {
                fields[elementPath] = .slot(slots.count)
                slots.append(Self.slot(for: element, name: elementPath))
            }
        }
    }

    // MARK: - Parts

    private static func slot(for attribute: NSAttributeDescription, name: String) -> EntityLayout.Slot {
        let kind = EntityLayout.Slot.Kind(attribute.attributeType)
        return EntityLayout.Slot(
            kind: kind, property: attribute, name: name, destination: nil, isPersistent: !attribute.isTransient,
            initial: (try? Value(attribute.defaultValue, kind: kind)) ?? .null)
    }

    private static func position(of relationship: NSRelationshipDescription) -> EntityLayout.Slot {
        EntityLayout.Slot(
            kind: .position, property: relationship, name: nil, destination: nil, isPersistent: true, initial: .null)
    }
}

/// The two ends of each relationship of an entity: on its objects, and on their destinations.
///
/// Inherited properties have the same fields in subentities, so that the ends of the declared destination are valid for
/// objects of its subentities. A class, because every edit passes it on.
final class RelationshipLinks {
    enum End: Equatable {
        case none
        case slot(Int)
        case toMany(Int)
    }

    struct Link {
        /// The end on the object that has the relationship.
        var own = End.none
        /// The end on the destination.
        var inverse = End.none
    }

    /// By slot; only to-one relationships have ends.
    let slots: ContiguousArray<Link>
    /// By the index of a to-many relationship.
    let toMany: ContiguousArray<Link>

    init(layout: EntityLayout) {
        slots = ContiguousArray(
            layout.slots.enumerated().map { index, slot in
                guard slot.kind == .toOne else { return Link() }
                // A hidden slot is the inverse of a one-way to-many: its owner has the relationship.
                return Link(
                    own: .slot(index),
                    inverse: slot.isHidden ? Self.end(of: slot.property) : Self.inverse(of: slot.property))
            })
        toMany = ContiguousArray(
            layout.toMany.enumerated().map { index, field in
                Link(own: .toMany(index), inverse: Self.inverse(of: field.relationship))
            })
    }

    /// The end of a to-many relationship on the objects that have it.
    private static func end(of property: NSPropertyDescription) -> End {
        let owner = property.entityIfAny?.layout
        return owner?.toMany.firstIndex { $0.relationship === property }.map(End.toMany) ?? .none
    }

    /// The end of a relationship on its destination.
    private static func inverse(of property: NSPropertyDescription) -> End {
        guard let relationship = property as? NSRelationshipDescription,
            let destination = relationship.destinationEntity?.layout
        else { return .none }
        guard let inverse = relationship.inverseRelationship else {
            // One-way: the hidden slot of the members that contains their owner.
            let hidden = destination.slots.firstIndex {
                $0.isHidden && $0.kind == .toOne && $0.property === relationship
            }
            return hidden.map(End.slot) ?? .none
        }
        if let slot = destination.slots.firstIndex(where: {
            $0.kind == .toOne && !$0.isHidden && $0.property === inverse
        }) {
            return .slot(slot)
        }
        return destination.toMany.firstIndex { $0.relationship === inverse }.map(End.toMany) ?? .none
    }
}

/// The to-many relationships of a model that have no inverse, grouped by destination: each has a hidden slot in its
/// destination entity.
struct InverselessRelationships {
    private var byDestination: [ObjectIdentifier: [NSRelationshipDescription]] = [:]

    /// Collects the relationships in one pass over the model.
    init(in model: NSManagedObjectModel?) {
        for owner in model?.orderedEntities ?? [] {
            let relationships = owner.properties.compactMap { $0 as? NSRelationshipDescription }.filter {
                $0.entity === owner && $0.isToMany && $0.inverseRelationship == nil && !$0.isTransient
            }
            for relationship in relationships.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
                guard let destination = relationship.destinationEntity else { continue }
                byDestination[ObjectIdentifier(destination), default: []].append(relationship)
            }
        }
    }

    /// To-many relationships without an inverse whose destination is exactly this entity, in the order of their owners.
    subscript(entity: NSEntityDescription) -> [NSRelationshipDescription] {
        byDestination[ObjectIdentifier(entity)] ?? []
    }
}
