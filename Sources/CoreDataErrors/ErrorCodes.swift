import Foundation

// Core Data's codes in `NSCocoaErrorDomain` as plain numbers.

// MARK: - Validation

/// A value is invalid for a reason without a code of its own.
public var NSManagedObjectValidationError: Int { 1550 }

/// A value violates a uniqueness constraint, as found by validation.
public var NSManagedObjectConstraintValidationError: Int { 1551 }

/// Several values are invalid; `NSDetailedErrorsKey` contains one error for each.
public var NSValidationMultipleErrorsError: Int { 1560 }

/// A property that is not optional is nil.
public var NSValidationMissingMandatoryPropertyError: Int { 1570 }

/// A relationship has fewer objects than its minimum count.
public var NSValidationRelationshipLacksMinimumCountError: Int { 1580 }

/// A relationship has more objects than its maximum count.
public var NSValidationRelationshipExceedsMaximumCountError: Int { 1590 }

/// An object cannot be deleted while a relationship with the rule deny has objects.
public var NSValidationRelationshipDeniedDeleteError: Int { 1600 }

/// A number is greater than its maximum.
public var NSValidationNumberTooLargeError: Int { 1610 }

/// A number is less than its minimum.
public var NSValidationNumberTooSmallError: Int { 1620 }

/// A date is later than its maximum.
public var NSValidationDateTooLateError: Int { 1630 }

/// A date is earlier than its minimum.
public var NSValidationDateTooSoonError: Int { 1640 }

/// A value is not a date.
public var NSValidationInvalidDateError: Int { 1650 }

/// A string is longer than its maximum.
public var NSValidationStringTooLongError: Int { 1660 }

/// A string is shorter than its minimum.
public var NSValidationStringTooShortError: Int { 1670 }

/// A string does not match its regular expression.
public var NSValidationStringPatternMatchingError: Int { 1680 }

/// A value is not a URI.
public var NSValidationInvalidURIError: Int { 1690 }

// MARK: - Contexts and objects

/// A context's lock could not be acquired.
public var NSManagedObjectContextLockingError: Int { 132000 }

/// A coordinator's lock could not be acquired.
public var NSPersistentStoreCoordinatorLockingError: Int { 132010 }

/// An object's row does not exist: a fault cannot be fulfilled.
public var NSManagedObjectReferentialIntegrityError: Int { 133000 }

/// An object refers to an object of another store.
public var NSManagedObjectExternalRelationshipError: Int { 133010 }

/// A save found rows that others have changed, and the merge policy does not resolve the conflicts.
public var NSManagedObjectMergeError: Int { 133020 }

/// A save violates a uniqueness constraint, and the merge policy does not resolve the conflict.
public var NSManagedObjectConstraintMergeError: Int { 133021 }

// MARK: - Stores

/// There is no store type of this name.
public var NSPersistentStoreInvalidTypeError: Int { 134000 }

/// The store's file is not of the requested type.
public var NSPersistentStoreTypeMismatchError: Int { 134010 }

/// The store's tables do not fit the model.
public var NSPersistentStoreIncompatibleSchemaError: Int { 134020 }

/// The store could not save.
public var NSPersistentStoreSaveError: Int { 134030 }

/// One or more of the coordinator's stores could not save.
public var NSPersistentStoreIncompleteSaveError: Int { 134040 }

/// A save found conflicts; `NSPersistentStoreSaveConflictsErrorKey` contains them.
public var NSPersistentStoreSaveConflictsError: Int { 134050 }

/// An error without a code of its own.
public var NSCoreDataError: Int { 134060 }

/// An operation on a store failed.
public var NSPersistentStoreOperationError: Int { 134070 }

/// The store could not be opened.
public var NSPersistentStoreOpenError: Int { 134080 }

/// The store did not respond in time.
public var NSPersistentStoreTimeoutError: Int { 134090 }

/// The store does not support requests of this kind.
public var NSPersistentStoreUnsupportedRequestTypeError: Int { 134091 }

// MARK: - Migration

/// The store was written with another version of the model.
public var NSPersistentStoreIncompatibleVersionHashError: Int { 134100 }

/// A migration failed.
public var NSMigrationError: Int { 134110 }

/// A migrated object violates a uniqueness constraint of the new model.
public var NSMigrationConstraintViolationError: Int { 134111 }

/// A migration was cancelled.
public var NSMigrationCancelledError: Int { 134120 }

/// The model with which the store was written was not found.
public var NSMigrationMissingSourceModelError: Int { 134130 }

/// There is no mapping model from the store's model to the new one.
public var NSMigrationMissingMappingModelError: Int { 134140 }

/// A migration could not read the old store.
public var NSMigrationManagerSourceStoreError: Int { 134150 }

/// A migration could not write the new store.
public var NSMigrationManagerDestinationStoreError: Int { 134160 }

/// An entity's migration policy failed.
public var NSEntityMigrationPolicyError: Int { 134170 }

/// SQLite failed; the user info contains its code under `NSSQLiteErrorDomain`.
public var NSSQLiteError: Int { 134180 }

/// No mapping model can be inferred.
public var NSInferredMappingModelError: Int { 134190 }

/// A Spotlight record could not be read.
public var NSExternalRecordImportError: Int { 134200 }

/// A history token is older than the history that the store still has.
public var NSPersistentHistoryTokenExpiredError: Int { 134301 }

/// A model that a staged migration refers to is not found, or a version is in none of its stages.
public var NSManagedObjectModelReferenceNotFoundError: Int { 134504 }

/// A store does not contain the checksum of its model, which a staged migration needs.
public var NSStagedMigrationFrameworkVersionMismatchError: Int { 134505 }

/// A staged migration cannot migrate back to an older model.
public var NSStagedMigrationBackwardMigrationError: Int { 134506 }

// The user info keys of Core Data's errors.

/// The key of an array of errors, in an error that combines several.
public let NSDetailedErrorsKey: String = "NSDetailedErrors"

/// The key of the object that is invalid.
public let NSValidationObjectErrorKey: String = "NSValidationErrorObject"

/// The key of the name of the property that is invalid.
public let NSValidationKeyErrorKey: String = "NSValidationErrorKey"

/// The key of the validation predicate that failed.
public let NSValidationPredicateErrorKey: String = "NSValidationErrorPredicate"

/// The key of the value that is invalid.
public let NSValidationValueErrorKey: String = "NSValidationErrorValue"

/// The key of the stores that an error concerns.
public let NSAffectedStoresErrorKey: String = "NSAffectedStoresErrorKey"

/// The key of the objects that an error concerns.
public let NSAffectedObjectsErrorKey: String = "NSAffectedObjectsErrorKey"

/// The key of the merge conflicts that a save found.
public let NSPersistentStoreSaveConflictsErrorKey: String = "conflictList"

/// The domain of SQLite's own codes, and the key under which an error's user info contains one.
public let NSSQLiteErrorDomain: String = "NSSQLiteErrorDomain"

extension CocoaError {
    /// The objects that the error concerns.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }

    /// The stores that the error concerns.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }

    /// The name of the property that is invalid.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }

    /// The object that is invalid.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }

    /// The value that is invalid.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
}
