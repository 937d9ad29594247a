import Foundation

// The codes as members of the error itself, as Foundation has its own, for use in `catch CocoaError.sqlite`.
// The numbers are in ErrorCodes.swift.

extension CocoaError {
    /// A value is invalid for a reason without a code of its own.
    public static var managedObjectValidation: CocoaError.Code { CocoaError.Code.managedObjectValidation }
    /// The same as ``managedObjectValidation``.
    public static var managedObjectValidationError: CocoaError.Code { managedObjectValidation }

    /// Several values are invalid; `NSDetailedErrorsKey` contains one error for each.
    public static var validationMultipleErrors: CocoaError.Code { CocoaError.Code.validationMultipleErrors }
    /// The same as ``validationMultipleErrors``.
    public static var validationMultipleErrorsError: CocoaError.Code { validationMultipleErrors }

    /// A property that is not optional is nil.
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        CocoaError.Code.validationMissingMandatoryProperty
    }
    /// The same as ``validationMissingMandatoryProperty``.
    public static var validationMissingMandatoryPropertyError: CocoaError.Code { validationMissingMandatoryProperty }

    /// A relationship has fewer objects than its minimum count.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        CocoaError.Code.validationRelationshipLacksMinimumCount
    }
    /// The same as ``validationRelationshipLacksMinimumCount``.
    public static var validationRelationshipLacksMinimumCountError: CocoaError.Code {
        validationRelationshipLacksMinimumCount
    }

    /// A relationship has more objects than its maximum count.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        CocoaError.Code.validationRelationshipExceedsMaximumCount
    }
    /// The same as ``validationRelationshipExceedsMaximumCount``.
    public static var validationRelationshipExceedsMaximumCountError: CocoaError.Code {
        validationRelationshipExceedsMaximumCount
    }

    /// An object cannot be deleted while a relationship with the rule deny has objects.
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        CocoaError.Code.validationRelationshipDeniedDelete
    }
    /// The same as ``validationRelationshipDeniedDelete``.
    public static var validationRelationshipDeniedDeleteError: CocoaError.Code { validationRelationshipDeniedDelete }

    /// A number is greater than its maximum.
    public static var validationNumberTooLarge: CocoaError.Code { CocoaError.Code.validationNumberTooLarge }
    /// The same as ``validationNumberTooLarge``.
    public static var validationNumberTooLargeError: CocoaError.Code { validationNumberTooLarge }

    /// A number is less than its minimum.
    public static var validationNumberTooSmall: CocoaError.Code { CocoaError.Code.validationNumberTooSmall }
    /// The same as ``validationNumberTooSmall``.
    public static var validationNumberTooSmallError: CocoaError.Code { validationNumberTooSmall }

    /// A date is later than its maximum.
    public static var validationDateTooLate: CocoaError.Code { CocoaError.Code.validationDateTooLate }
    /// The same as ``validationDateTooLate``.
    public static var validationDateTooLateError: CocoaError.Code { validationDateTooLate }

    /// A date is earlier than its minimum.
    public static var validationDateTooSoon: CocoaError.Code { CocoaError.Code.validationDateTooSoon }
    /// The same as ``validationDateTooSoon``.
    public static var validationDateTooSoonError: CocoaError.Code { validationDateTooSoon }

    /// A value is not a date.
    public static var validationInvalidDate: CocoaError.Code { CocoaError.Code.validationInvalidDate }
    /// The same as ``validationInvalidDate``.
    public static var validationInvalidDateError: CocoaError.Code { validationInvalidDate }

    /// A string is longer than its maximum.
    public static var validationStringTooLong: CocoaError.Code { CocoaError.Code.validationStringTooLong }
    /// The same as ``validationStringTooLong``.
    public static var validationStringTooLongError: CocoaError.Code { validationStringTooLong }

    /// A string is shorter than its minimum.
    public static var validationStringTooShort: CocoaError.Code { CocoaError.Code.validationStringTooShort }
    /// The same as ``validationStringTooShort``.
    public static var validationStringTooShortError: CocoaError.Code { validationStringTooShort }

    /// A string does not match its regular expression.
    public static var validationStringPatternMatching: CocoaError.Code {
        CocoaError.Code.validationStringPatternMatching
    }
    /// The same as ``validationStringPatternMatching``.
    public static var validationStringPatternMatchingError: CocoaError.Code { validationStringPatternMatching }

    /// A context's lock could not be acquired.
    public static var managedObjectContextLocking: CocoaError.Code { CocoaError.Code.managedObjectContextLocking }
    /// The same as ``managedObjectContextLocking``.
    public static var managedObjectContextLockingError: CocoaError.Code { managedObjectContextLocking }

    /// A coordinator's lock could not be acquired.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code {
        CocoaError.Code.persistentStoreCoordinatorLocking
    }
    /// The same as ``persistentStoreCoordinatorLocking``.
    public static var persistentStoreCoordinatorLockingError: CocoaError.Code { persistentStoreCoordinatorLocking }

    /// An object's row does not exist: a fault cannot be fulfilled.
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        CocoaError.Code.managedObjectReferentialIntegrity
    }
    /// The same as ``managedObjectReferentialIntegrity``.
    public static var managedObjectReferentialIntegrityError: CocoaError.Code { managedObjectReferentialIntegrity }

    /// An object refers to an object of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code {
        CocoaError.Code.managedObjectExternalRelationship
    }
    /// The same as ``managedObjectExternalRelationship``.
    public static var managedObjectExternalRelationshipError: CocoaError.Code { managedObjectExternalRelationship }

    /// A save found rows that others have changed, and the merge policy does not resolve the conflicts.
    public static var managedObjectMerge: CocoaError.Code { CocoaError.Code.managedObjectMerge }
    /// The same as ``managedObjectMerge``.
    public static var managedObjectMergeError: CocoaError.Code { managedObjectMerge }

    /// A save violates a uniqueness constraint, and the merge policy does not resolve the conflict.
    public static var managedObjectConstraintMerge: CocoaError.Code { CocoaError.Code.managedObjectConstraintMerge }
    /// The same as ``managedObjectConstraintMerge``.
    public static var managedObjectConstraintMergeError: CocoaError.Code { managedObjectConstraintMerge }

    /// There is no store type of this name.
    public static var persistentStoreInvalidType: CocoaError.Code { CocoaError.Code.persistentStoreInvalidType }
    /// The same as ``persistentStoreInvalidType``.
    public static var persistentStoreInvalidTypeError: CocoaError.Code { persistentStoreInvalidType }

    /// The store's file is not of the requested type.
    public static var persistentStoreTypeMismatch: CocoaError.Code { CocoaError.Code.persistentStoreTypeMismatch }
    /// The same as ``persistentStoreTypeMismatch``.
    public static var persistentStoreTypeMismatchError: CocoaError.Code { persistentStoreTypeMismatch }

    /// The store's tables do not fit the model.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code {
        CocoaError.Code.persistentStoreIncompatibleSchema
    }
    /// The same as ``persistentStoreIncompatibleSchema``.
    public static var persistentStoreIncompatibleSchemaError: CocoaError.Code { persistentStoreIncompatibleSchema }

    /// The store could not save.
    public static var persistentStoreSave: CocoaError.Code { CocoaError.Code.persistentStoreSave }
    /// The same as ``persistentStoreSave``.
    public static var persistentStoreSaveError: CocoaError.Code { persistentStoreSave }

    /// One or more of the coordinator's stores could not save.
    public static var persistentStoreIncompleteSave: CocoaError.Code { CocoaError.Code.persistentStoreIncompleteSave }
    /// The same as ``persistentStoreIncompleteSave``.
    public static var persistentStoreIncompleteSaveError: CocoaError.Code { persistentStoreIncompleteSave }

    /// A save found conflicts; `NSPersistentStoreSaveConflictsErrorKey` contains them.
    public static var persistentStoreSaveConflicts: CocoaError.Code { CocoaError.Code.persistentStoreSaveConflicts }
    /// The same as ``persistentStoreSaveConflicts``.
    public static var persistentStoreSaveConflictsError: CocoaError.Code { persistentStoreSaveConflicts }

    /// An error without a code of its own.
    public static var coreData: CocoaError.Code { CocoaError.Code.coreData }
    /// The same as ``coreData``.
    public static var coreDataError: CocoaError.Code { coreData }

    /// An operation on a store failed.
    public static var persistentStoreOperation: CocoaError.Code { CocoaError.Code.persistentStoreOperation }
    /// The same as ``persistentStoreOperation``.
    public static var persistentStoreOperationError: CocoaError.Code { persistentStoreOperation }

    /// The store could not be opened.
    public static var persistentStoreOpen: CocoaError.Code { CocoaError.Code.persistentStoreOpen }
    /// The same as ``persistentStoreOpen``.
    public static var persistentStoreOpenError: CocoaError.Code { persistentStoreOpen }

    /// The store did not respond in time.
    public static var persistentStoreTimeout: CocoaError.Code { CocoaError.Code.persistentStoreTimeout }
    /// The same as ``persistentStoreTimeout``.
    public static var persistentStoreTimeoutError: CocoaError.Code { persistentStoreTimeout }

    /// The store does not support requests of this kind.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        CocoaError.Code.persistentStoreUnsupportedRequestType
    }
    /// The same as ``persistentStoreUnsupportedRequestType``.
    public static var persistentStoreUnsupportedRequestTypeError: CocoaError.Code {
        persistentStoreUnsupportedRequestType
    }

    /// The store was written with another version of the model.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        CocoaError.Code.persistentStoreIncompatibleVersionHash
    }
    /// The same as ``persistentStoreIncompatibleVersionHash``.
    public static var persistentStoreIncompatibleVersionHashError: CocoaError.Code {
        persistentStoreIncompatibleVersionHash
    }

    /// A migration failed.
    public static var migration: CocoaError.Code { CocoaError.Code.migration }
    /// The same as ``migration``.
    public static var migrationError: CocoaError.Code { migration }

    /// A migration was cancelled.
    public static var migrationCancelled: CocoaError.Code { CocoaError.Code.migrationCancelled }
    /// The same as ``migrationCancelled``.
    public static var migrationCancelledError: CocoaError.Code { migrationCancelled }

    /// The model with which the store was written was not found.
    public static var migrationMissingSourceModel: CocoaError.Code { CocoaError.Code.migrationMissingSourceModel }
    /// The same as ``migrationMissingSourceModel``.
    public static var migrationMissingSourceModelError: CocoaError.Code { migrationMissingSourceModel }

    /// There is no mapping model from the store's model to the new one.
    public static var migrationMissingMappingModel: CocoaError.Code { CocoaError.Code.migrationMissingMappingModel }
    /// The same as ``migrationMissingMappingModel``.
    public static var migrationMissingMappingModelError: CocoaError.Code { migrationMissingMappingModel }

    /// A migration could not read the old store.
    public static var migrationManagerSourceStore: CocoaError.Code { CocoaError.Code.migrationManagerSourceStore }
    /// The same as ``migrationManagerSourceStore``.
    public static var migrationManagerSourceStoreError: CocoaError.Code { migrationManagerSourceStore }

    /// A migration could not write the new store.
    public static var migrationManagerDestinationStore: CocoaError.Code {
        CocoaError.Code.migrationManagerDestinationStore
    }
    /// The same as ``migrationManagerDestinationStore``.
    public static var migrationManagerDestinationStoreError: CocoaError.Code { migrationManagerDestinationStore }

    /// An entity's migration policy failed.
    public static var entityMigrationPolicy: CocoaError.Code { CocoaError.Code.entityMigrationPolicy }
    /// The same as ``entityMigrationPolicy``.
    public static var entityMigrationPolicyError: CocoaError.Code { entityMigrationPolicy }

    /// SQLite failed; the user info contains its code under `NSSQLiteErrorDomain`.
    public static var sqlite: CocoaError.Code { CocoaError.Code.sqlite }
    /// The same as ``sqlite``.
    public static var sqliteError: CocoaError.Code { sqlite }

    /// No mapping model can be inferred.
    public static var inferredMappingModel: CocoaError.Code { CocoaError.Code.inferredMappingModel }
    /// The same as ``inferredMappingModel``.
    public static var inferredMappingModelError: CocoaError.Code { inferredMappingModel }

    /// A Spotlight record could not be read.
    public static var externalRecordImport: CocoaError.Code { CocoaError.Code.externalRecordImport }
    /// The same as ``externalRecordImport``.
    public static var externalRecordImportError: CocoaError.Code { externalRecordImport }
}
