import CoreData

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
