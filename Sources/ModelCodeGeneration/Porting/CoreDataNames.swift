/// The names that `import CoreData` provides outside Apple's platforms and that no other module declares in a usable form.
///
/// A test compares the list with the exports of the module.
enum CoreDataNames {
    /// Whether a word is such a name.
    static func contains(_ word: String) -> Bool { all.contains(word) }

    static let all = Set(text.split(whereSeparator: \.isWhitespace).map(String.init))

    private static let text = """
        NSAddedPersistentStoresKey NSAffectedObjectsErrorKey NSAffectedStoresErrorKey NSAsynchronousFetchRequest
        NSAsynchronousFetchResult NSAtomicStore NSAtomicStoreCacheNode NSAttributeDescription NSAttributeType
        NSBatchDeleteRequest NSBatchDeleteRequestResultType NSBatchDeleteResult NSBatchInsertRequest
        NSBatchInsertRequestResultType NSBatchInsertResult NSBatchUpdateRequest NSBatchUpdateRequestResultType
        NSBatchUpdateResult NSBinaryStoreInsecureDecodingCompatibilityOption NSBinaryStoreSecureDecodingClasses
        NSBinaryStoreType NSComparisonPredicate NSCompositeAttributeDescription NSCompoundPredicate
        NSConstraintConflict NSCoreDataError NSCustomMigrationStage NSDeleteRule NSDeletedObjectIDsKey
        NSDeletedObjectsKey NSDerivedAttributeDescription NSDetailedErrorsKey NSDiffableDataSourceSnapshotReference
        LocalPort NSEC_PER_SEC NSFastEnumerationIterator
        NSEntityDescription NSEntityMapping NSEntityMappingType NSEntityMigrationPolicy NSEntityMigrationPolicyError
        NSErrorMergePolicy NSExpression NSExpressionDescription NSExternalRecordImportError NSFetchIndexDescription
        NSFetchIndexElementDescription NSFetchIndexElementType NSFetchRequest NSFetchRequestExpression
        NSFetchRequestExpressionType NSFetchRequestResult NSFetchRequestResultType NSFetchedPropertyDescription
        NSFetchedResultsChangeType NSFetchedResultsController NSFetchedResultsControllerDelegate
        NSFetchedResultsSectionInfo NSIgnorePersistentStoreVersioningOption NSInMemoryStoreType NSIncrementalStore
        NSIncrementalStoreNode NSInferMappingModelAutomaticallyOption NSInferredMappingModelError
        NSInsertedObjectIDsKey NSInsertedObjectsKey NSInvalidatedAllObjectsKey NSInvalidatedObjectIDsKey
        NSInvalidatedObjectsKey NSKeyValueObservation NSKeyValueObservedChange NSKeyValueObservingOptions
        NSKeyValueChange NSKeyValueSetMutationKind
        NSLightweightMigrationStage NSManagedObject NSManagedObjectConstraintMergeError
        NSManagedObjectConstraintValidationError NSManagedObjectContext NSManagedObjectContextConcurrencyType
        NSManagedObjectContextLockingError NSManagedObjectContextQueryGenerationKey
        NSManagedObjectExternalRelationshipError NSManagedObjectID NSManagedObjectMergeError NSManagedObjectModel
        NSManagedObjectModelReference NSManagedObjectModelReferenceNotFoundError
        NSManagedObjectReferentialIntegrityError NSManagedObjectValidationError NSMappingModel
        NSMergeByPropertyObjectTrumpMergePolicy NSMergeByPropertyStoreTrumpMergePolicy NSMergeConflict NSMergePolicy
        NSMergePolicyType NSMigratePersistentStoresAutomaticallyOption NSMigrationCancelledError
        NSMigrationConstraintViolationError NSMigrationDestinationObjectKey NSMigrationEntityMappingKey
        NSMigrationEntityPolicyKey NSMigrationError NSMigrationManager NSMigrationManagerDestinationStoreError
        NSMigrationManagerKey NSMigrationManagerSourceStoreError NSMigrationMissingMappingModelError
        NSMigrationMissingSourceModelError NSMigrationPropertyMappingKey NSMigrationSourceObjectKey NSMigrationStage
        NSOverwriteMergePolicy NSPersistentCloudKitContainer NSPersistentCloudKitContainerOptions
        NSPersistentContainer NSPersistentHistoryChange NSPersistentHistoryChangeRequest
        NSPersistentHistoryChangeType NSPersistentHistoryResult NSPersistentHistoryResultType
        NSPersistentHistoryToken NSPersistentHistoryTokenExpiredError NSPersistentHistoryTokenKey
        NSPersistentHistoryTrackingKey NSPersistentHistoryTransaction NSPersistentStore
        NSPersistentStoreAsynchronousFetchResultCompletionBlock NSPersistentStoreAsynchronousResult
        NSPersistentStoreConnectionPoolMaxSizeKey NSPersistentStoreCoordinator
        NSPersistentStoreCoordinatorLockingError NSPersistentStoreDeferredLightweightMigrationOptionKey
        NSPersistentStoreDescription NSPersistentStoreFileProtectionKey NSPersistentStoreForceDestroyOption
        NSPersistentStoreIncompatibleSchemaError NSPersistentStoreIncompatibleVersionHashError
        NSPersistentStoreIncompleteSaveError NSPersistentStoreInvalidTypeError
        NSPersistentStoreModelVersionChecksumKey NSPersistentStoreOSCompatibility NSPersistentStoreOpenError
        NSPersistentStoreOperationError NSPersistentStoreRebuildFromUbiquitousContentOption
        NSPersistentStoreRemoteChangeNotificationPostOptionKey NSPersistentStoreRemoveUbiquitousMetadataOption
        NSPersistentStoreRequest NSPersistentStoreRequestType NSPersistentStoreResult
        NSPersistentStoreSaveConflictsError NSPersistentStoreSaveConflictsErrorKey NSPersistentStoreSaveError
        NSPersistentStoreStagedMigrationManagerOptionKey NSPersistentStoreTimeoutError
        NSPersistentStoreTimeoutOption NSPersistentStoreTypeMismatchError NSPersistentStoreURLKey
        NSPersistentStoreUbiquitousContainerIdentifierKey NSPersistentStoreUbiquitousContentNameKey
        NSPersistentStoreUbiquitousContentURLKey NSPersistentStoreUbiquitousPeerTokenOption
        NSPersistentStoreUbiquitousTransitionType NSPersistentStoreUbiquitousTransitionTypeKey
        NSPersistentStoreUnsupportedRequestTypeError NSPredicate NSPropertyDescription NSPropertyMapping
        NSQueryGenerationToken NSReadOnlyPersistentStoreOption NSRefreshedObjectIDsKey NSRefreshedObjectsKey
        NSRelationshipDescription NSRemovedPersistentStoresKey NSRollbackMergePolicy NSSQLiteAnalyzeOption
        NSSQLiteError NSSQLiteErrorDomain NSSQLiteManualVacuumOption NSSQLitePragmasOption NSSQLiteStoreType
        NSSaveChangesRequest NSSecureUnarchiveFromDataTransformer NSSelectorFromString NSSnapshotEventType
        NSSortDescriptor NSStagedMigrationBackwardMigrationError NSStagedMigrationFrameworkVersionMismatchError
        NSStagedMigrationManager NSStoreModelVersionHashesKey NSStoreModelVersionIdentifiersKey NSStoreTypeKey
        NSStoreUUIDKey NSStringFromSelector NSUUIDChangedPersistentStoresKey NSUpdatedObjectIDsKey
        NSUpdatedObjectsKey NSValidationDateTooLateError NSValidationDateTooSoonError NSValidationInvalidDateError
        NSValidationInvalidURIError NSValidationKeyErrorKey NSValidationMissingMandatoryPropertyError
        NSValidationMultipleErrorsError NSValidationNumberTooLargeError NSValidationNumberTooSmallError
        NSValidationObjectErrorKey NSValidationPredicateErrorKey NSValidationRelationshipDeniedDeleteError
        NSValidationRelationshipExceedsMaximumCountError NSValidationRelationshipLacksMinimumCountError
        NSValidationStringPatternMatchingError NSValidationStringTooLongError NSValidationStringTooShortError
        NSValidationValueErrorKey NSValueTransformerName NSXMLStoreType UndoManager ValueTransformer autoreleasepool
        """
}
