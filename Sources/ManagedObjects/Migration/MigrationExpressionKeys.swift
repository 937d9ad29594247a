// The variables of value expressions, without the dollar sign.

/// The ``NSMigrationManager``: `$manager`.
public let NSMigrationManagerKey: String = "manager"

/// The source instance: `$source`. Nil if a destination instance was associated with none.
public let NSMigrationSourceObjectKey: String = "source"

/// The destination instance: `$destination`.
public let NSMigrationDestinationObjectKey: String = "destination"

/// The ``NSEntityMapping``: `$entityMapping`.
public let NSMigrationEntityMappingKey: String = "entityMapping"

/// The ``NSPropertyMapping``: `$propertyMapping`.
public let NSMigrationPropertyMappingKey: String = "propertyMapping"

/// The ``NSEntityMigrationPolicy``: `$entityPolicy`.
public let NSMigrationEntityPolicyKey: String = "entityPolicy"
