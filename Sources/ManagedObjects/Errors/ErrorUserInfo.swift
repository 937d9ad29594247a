import Foundation

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

    /// The validation predicate that failed.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }

    /// The value that is invalid.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
}
