import Foundation

// Lays out an entity: superentities first, at each level its own properties sorted by name, then hidden slots. Used
// only by `EntityLayout`.
struct EntityLayoutBuilder {
    private(set) var slots: [EntityLayout.Slot] = []
    private(set) var toMany: [EntityLayout.ToMany] = []
    private(set) var fields: [String: EntityLayout.Field] = [:]
    private let oneWayToManys: OneWayToManys

    init(_ oneWayToManys: OneWayToManys) { self.oneWayToManys = oneWayToManys }

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
        for relationship in oneWayToManys[entity] {
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
