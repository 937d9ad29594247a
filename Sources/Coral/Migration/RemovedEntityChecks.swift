import CoreData

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
