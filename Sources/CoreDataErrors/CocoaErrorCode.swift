import Foundation

// Core Data's codes. Apple declares each twice: with and without `Error` at the end.
// The numbers are in ErrorCodes.swift.

extension CocoaError.Code {
    /// A value is invalid for a reason without a code of its own.
    public static var managedObjectValidation: CocoaError.Code { Self(rawValue: NSManagedObjectValidationError) }
    /// The same as ``managedObjectValidation``.
    public static var managedObjectValidationError: CocoaError.Code { managedObjectValidation }

    /// Several values are invalid; `NSDetailedErrorsKey` contains one error for each.
    public static var validationMultipleErrors: CocoaError.Code { Self(rawValue: NSValidationMultipleErrorsError) }
    /// The same as ``validationMultipleErrors``.
    public static var validationMultipleErrorsError: CocoaError.Code { validationMultipleErrors }

    /// A property that is not optional is nil.
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        Self(rawValue: NSValidationMissingMandatoryPropertyError)
    }
    /// The same as ``validationMissingMandatoryProperty``.
    public static var validationMissingMandatoryPropertyError: CocoaError.Code { validationMissingMandatoryProperty }

    /// A relationship has fewer objects than its minimum count.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        Self(rawValue: NSValidationRelationshipLacksMinimumCountError)
    }
    /// The same as ``validationRelationshipLacksMinimumCount``.
    public static var validationRelationshipLacksMinimumCountError: CocoaError.Code {
        validationRelationshipLacksMinimumCount
    }

    /// A relationship has more objects than its maximum count.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        Self(rawValue: NSValidationRelationshipExceedsMaximumCountError)
    }
    /// The same as ``validationRelationshipExceedsMaximumCount``.
    public static var validationRelationshipExceedsMaximumCountError: CocoaError.Code {
        validationRelationshipExceedsMaximumCount
    }

    /// An object cannot be deleted while a relationship with the rule deny has objects.
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        Self(rawValue: NSValidationRelationshipDeniedDeleteError)
    }
    /// The same as ``validationRelationshipDeniedDelete``.
    public static var validationRelationshipDeniedDeleteError: CocoaError.Code { validationRelationshipDeniedDelete }

    /// A number is greater than its maximum.
    public static var validationNumberTooLarge: CocoaError.Code { Self(rawValue: NSValidationNumberTooLargeError) }
    /// The same as ``validationNumberTooLarge``.
    public static var validationNumberTooLargeError: CocoaError.Code { validationNumberTooLarge }

    /// A number is less than its minimum.
    public static var validationNumberTooSmall: CocoaError.Code { Self(rawValue: NSValidationNumberTooSmallError) }
    /// The same as ``validationNumberTooSmall``.
    public static var validationNumberTooSmallError: CocoaError.Code { validationNumberTooSmall }

    /// A date is later than its maximum.
    public static var validationDateTooLate: CocoaError.Code { Self(rawValue: NSValidationDateTooLateError) }
    /// The same as ``validationDateTooLate``.
    public static var validationDateTooLateError: CocoaError.Code { validationDateTooLate }

    /// A date is earlier than its minimum.
    public static var validationDateTooSoon: CocoaError.Code { Self(rawValue: NSValidationDateTooSoonError) }
    /// The same as ``validationDateTooSoon``.
    public static var validationDateTooSoonError: CocoaError.Code { validationDateTooSoon }

    /// A value is not a date.
    public static var validationInvalidDate: CocoaError.Code { Self(rawValue: NSValidationInvalidDateError) }
    /// The same as ``validationInvalidDate``.
    public static var validationInvalidDateError: CocoaError.Code { validationInvalidDate }

    /// A string is longer than its maximum.
    public static var validationStringTooLong: CocoaError.Code { Self(rawValue: NSValidationStringTooLongError) }
    /// The same as ``validationStringTooLong``.
    public static var validationStringTooLongError: CocoaError.Code { validationStringTooLong }

    /// A string is shorter than its minimum.
    public static var validationStringTooShort: CocoaError.Code { Self(rawValue: NSValidationStringTooShortError) }
    /// The same as ``validationStringTooShort``.
    public static var validationStringTooShortError: CocoaError.Code { validationStringTooShort }

    /// A string does not match its regular expression.
    public static var validationStringPatternMatching: CocoaError.Code {
        Self(rawValue: NSValidationStringPatternMatchingError)
    }
    /// The same as ``validationStringPatternMatching``.
    public static var validationStringPatternMatchingError: CocoaError.Code { validationStringPatternMatching }

    /// A context's lock could not be acquired.
    public static var managedObjectContextLocking: CocoaError.Code {
        Self(rawValue: NSManagedObjectContextLockingError)
    }
    /// The same as ``managedObjectContextLocking``.
    public static var managedObjectContextLockingError: CocoaError.Code { managedObjectContextLocking }

    /// A coordinator's lock could not be acquired.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code {
        Self(rawValue: NSPersistentStoreCoordinatorLockingError)
    }
    /// The same as ``persistentStoreCoordinatorLocking``.
    public static var persistentStoreCoordinatorLockingError: CocoaError.Code { persistentStoreCoordinatorLocking }

    /// An object's row does not exist: a fault cannot be fulfilled.
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        Self(rawValue: NSManagedObjectReferentialIntegrityError)
    }
    /// The same as ``managedObjectReferentialIntegrity``.
    public static var managedObjectReferentialIntegrityError: CocoaError.Code { managedObjectReferentialIntegrity }

    /// An object refers to an object of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code {
        Self(rawValue: NSManagedObjectExternalRelationshipError)
    }
    /// The same as ``managedObjectExternalRelationship``.
    public static var managedObjectExternalRelationshipError: CocoaError.Code { managedObjectExternalRelationship }

    /// A save found rows that others have changed, and the merge policy does not resolve the conflicts.
    public static var managedObjectMerge: CocoaError.Code { Self(rawValue: NSManagedObjectMergeError) }
    /// The same as ``managedObjectMerge``.
    public static var managedObjectMergeError: CocoaError.Code { managedObjectMerge }

    /// A save violates a uniqueness constraint, and the merge policy does not resolve the conflict.
    public static var managedObjectConstraintMerge: CocoaError.Code {
        Self(rawValue: NSManagedObjectConstraintMergeError)
    }
    /// The same as ``managedObjectConstraintMerge``.
    public static var managedObjectConstraintMergeError: CocoaError.Code { managedObjectConstraintMerge }

    /// There is no store type of this name.
    public static var persistentStoreInvalidType: CocoaError.Code { Self(rawValue: NSPersistentStoreInvalidTypeError) }
    /// The same as ``persistentStoreInvalidType``.
    public static var persistentStoreInvalidTypeError: CocoaError.Code { persistentStoreInvalidType }

    /// The store's file is not of the requested type.
    public static var persistentStoreTypeMismatch: CocoaError.Code {
        Self(rawValue: NSPersistentStoreTypeMismatchError)
    }
    /// The same as ``persistentStoreTypeMismatch``.
    public static var persistentStoreTypeMismatchError: CocoaError.Code { persistentStoreTypeMismatch }

    /// The store's tables do not fit the model.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code {
        Self(rawValue: NSPersistentStoreIncompatibleSchemaError)
    }
    /// The same as ``persistentStoreIncompatibleSchema``.
    public static var persistentStoreIncompatibleSchemaError: CocoaError.Code { persistentStoreIncompatibleSchema }

    /// The store could not save.
    public static var persistentStoreSave: CocoaError.Code { Self(rawValue: NSPersistentStoreSaveError) }
    /// The same as ``persistentStoreSave``.
    public static var persistentStoreSaveError: CocoaError.Code { persistentStoreSave }

    /// One or more of the coordinator's stores could not save.
    public static var persistentStoreIncompleteSave: CocoaError.Code {
        Self(rawValue: NSPersistentStoreIncompleteSaveError)
    }
    /// The same as ``persistentStoreIncompleteSave``.
    public static var persistentStoreIncompleteSaveError: CocoaError.Code { persistentStoreIncompleteSave }

    /// A save found conflicts; `NSPersistentStoreSaveConflictsErrorKey` contains them.
    public static var persistentStoreSaveConflicts: CocoaError.Code {
        Self(rawValue: NSPersistentStoreSaveConflictsError)
    }
    /// The same as ``persistentStoreSaveConflicts``.
    public static var persistentStoreSaveConflictsError: CocoaError.Code { persistentStoreSaveConflicts }

    /// An error without a code of its own.
    public static var coreData: CocoaError.Code { Self(rawValue: NSCoreDataError) }
    /// The same as ``coreData``.
    public static var coreDataError: CocoaError.Code { coreData }

    /// An operation on a store failed.
    public static var persistentStoreOperation: CocoaError.Code { Self(rawValue: NSPersistentStoreOperationError) }
    /// The same as ``persistentStoreOperation``.
    public static var persistentStoreOperationError: CocoaError.Code { persistentStoreOperation }

    /// The store could not be opened.
    public static var persistentStoreOpen: CocoaError.Code { Self(rawValue: NSPersistentStoreOpenError) }
    /// The same as ``persistentStoreOpen``.
    public static var persistentStoreOpenError: CocoaError.Code { persistentStoreOpen }

    /// The store did not respond in time.
    public static var persistentStoreTimeout: CocoaError.Code { Self(rawValue: NSPersistentStoreTimeoutError) }
    /// The same as ``persistentStoreTimeout``.
    public static var persistentStoreTimeoutError: CocoaError.Code { persistentStoreTimeout }

    /// The store does not support requests of this kind.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        Self(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
    }
    /// The same as ``persistentStoreUnsupportedRequestType``.
    public static var persistentStoreUnsupportedRequestTypeError: CocoaError.Code {
        persistentStoreUnsupportedRequestType
    }

    /// The store was written with another version of the model.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        Self(rawValue: NSPersistentStoreIncompatibleVersionHashError)
    }
    /// The same as ``persistentStoreIncompatibleVersionHash``.
    public static var persistentStoreIncompatibleVersionHashError: CocoaError.Code {
        persistentStoreIncompatibleVersionHash
    }

    /// A migration failed.
    public static var migration: CocoaError.Code { Self(rawValue: NSMigrationError) }
    /// The same as ``migration``.
    public static var migrationError: CocoaError.Code { migration }

    /// A migration was cancelled.
    public static var migrationCancelled: CocoaError.Code { Self(rawValue: NSMigrationCancelledError) }
    /// The same as ``migrationCancelled``.
    public static var migrationCancelledError: CocoaError.Code { migrationCancelled }

    /// The model with which the store was written was not found.
    public static var migrationMissingSourceModel: CocoaError.Code {
        Self(rawValue: NSMigrationMissingSourceModelError)
    }
    /// The same as ``migrationMissingSourceModel``.
    public static var migrationMissingSourceModelError: CocoaError.Code { migrationMissingSourceModel }

    /// There is no mapping model from the store's model to the new one.
    public static var migrationMissingMappingModel: CocoaError.Code {
        Self(rawValue: NSMigrationMissingMappingModelError)
    }
    /// The same as ``migrationMissingMappingModel``.
    public static var migrationMissingMappingModelError: CocoaError.Code { migrationMissingMappingModel }

    /// A migration could not read the old store.
    public static var migrationManagerSourceStore: CocoaError.Code {
        Self(rawValue: NSMigrationManagerSourceStoreError)
    }
    /// The same as ``migrationManagerSourceStore``.
    public static var migrationManagerSourceStoreError: CocoaError.Code { migrationManagerSourceStore }

    /// A migration could not write the new store.
    public static var migrationManagerDestinationStore: CocoaError.Code {
        Self(rawValue: NSMigrationManagerDestinationStoreError)
    }
    /// The same as ``migrationManagerDestinationStore``.
    public static var migrationManagerDestinationStoreError: CocoaError.Code { migrationManagerDestinationStore }

    /// An entity's migration policy failed.
    public static var entityMigrationPolicy: CocoaError.Code { Self(rawValue: NSEntityMigrationPolicyError) }
    /// The same as ``entityMigrationPolicy``.
    public static var entityMigrationPolicyError: CocoaError.Code { entityMigrationPolicy }

    /// SQLite failed; the user info contains its code under `NSSQLiteErrorDomain`.
    public static var sqlite: CocoaError.Code { Self(rawValue: NSSQLiteError) }
    /// The same as ``sqlite``.
    public static var sqliteError: CocoaError.Code { sqlite }

    /// No mapping model can be inferred.
    public static var inferredMappingModel: CocoaError.Code { Self(rawValue: NSInferredMappingModelError) }
    /// The same as ``inferredMappingModel``.
    public static var inferredMappingModelError: CocoaError.Code { inferredMappingModel }

    /// A Spotlight record could not be read.
    public static var externalRecordImport: CocoaError.Code { Self(rawValue: NSExternalRecordImportError) }
    /// The same as ``externalRecordImport``.
    public static var externalRecordImportError: CocoaError.Code { externalRecordImport }
}
