import CoreData

/// A relationship that objects require. In an import in batches it may be set by the record of another batch, so that it
/// is checked after all batches.
struct ImportRequirement: Hashable {
    var entity: String
    var relationship: String
    var isToMany: Bool
    var minCount: Int

    /// Nil if the error is not that a required relationship has too few objects.
    init?(_ error: NSError, of entity: NSEntityDescription, _ property: String) {
        guard
            [NSValidationMissingMandatoryPropertyError, NSValidationRelationshipLacksMinimumCountError]
                .contains(error.code), let relationship = entity.relationshipsByName[property]
        else { return nil }
        self.entity = entity.name ?? ""
        self.relationship = property
        isToMany = relationship.isToMany
        minCount = max(relationship.minCount, 1)
    }

    /// The IDs of the objects that do not meet the requirement. One statement.
    func violations(in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        request.resultType = .managedObjectIDResultType
        request.includesSubentities = false
        request.predicate =
            isToMany
            ? NSPredicate(format: "%K.@count < %d", argumentArray: [relationship, minCount])
            : NSPredicate(format: "%K == nil", argumentArray: [relationship])
        return try context.fetch(request)
    }
}
