import Foundation

/// The to-many relationships of a model that have no inverse, grouped by destination: each has a hidden slot in its
/// destination entity.
struct OneWayToManys {
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
