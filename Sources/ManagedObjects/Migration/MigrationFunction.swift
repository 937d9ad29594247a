/// The methods of a migration manager that value expressions call, by their selectors.
///
/// Source: a mapping model that Xcode has compiled. The second and third are not in Apple's documentation.
enum MigrationFunction: String {
    /// The destination instances that a mapping has created for source instances.
    case mappingInstances = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    /// The destination instances of source instances, whatever mapping has created them, for a relationship.
    case relationshipInstances = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    /// The source instances of destination instances of a mapping.
    case sourceInstances = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    /// A fetch request for the objects of an entity, without those of subentities.
    case fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
}
