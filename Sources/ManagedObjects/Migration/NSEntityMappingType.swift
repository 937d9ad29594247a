/// How the objects of an entity are migrated.
public enum NSEntityMappingType: UInt, @unchecked Sendable {
    /// Not set: the manager migrates the objects according to the entities of the mapping.
    case undefinedEntityMappingType = 0
    /// A policy of the developer creates the destination instances.
    case customEntityMappingType = 1
    /// The entity is new. No object is created.
    case addEntityMappingType = 2
    /// The entity is removed. Its objects are not migrated.
    case removeEntityMappingType = 3
    /// The entity has the same version hash in both models.
    case copyEntityMappingType = 4
    /// The entity differs between the models.
    case transformEntityMappingType = 5
}
