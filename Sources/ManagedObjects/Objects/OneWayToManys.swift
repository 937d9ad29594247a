import Foundation

/// The to-many relationships of a model that have no inverse, by their destination: each has a hidden slot there.
struct OneWayToManys {
    private var byDestination: [ObjectIdentifier: [NSRelationshipDescription]] = [:]

    /// Looks at each relationship of the model once.
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

    /// The relationships whose destination is this very entity, in the order of their owners.
    subscript(entity: NSEntityDescription) -> [NSRelationshipDescription] {
        byDestination[ObjectIdentifier(entity)] ?? []
    }
}
