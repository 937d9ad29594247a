import Foundation

// What Core Data's errors carry besides their code.

/// The key of an array of errors, in an error that stands for several.
public let NSDetailedErrorsKey: String = "NSDetailedErrors"

/// The key of the object that is not valid.
public let NSValidationObjectErrorKey: String = "NSValidationErrorObject"

/// The key of the name of the property that is not valid.
public let NSValidationKeyErrorKey: String = "NSValidationErrorKey"

/// The key of the validation predicate that was not met.
public let NSValidationPredicateErrorKey: String = "NSValidationErrorPredicate"

/// The key of the value that is not valid.
public let NSValidationValueErrorKey: String = "NSValidationErrorValue"

/// The key of the stores that an error is about.
public let NSAffectedStoresErrorKey: String = "NSAffectedStoresErrorKey"

/// The key of the objects that an error is about.
public let NSAffectedObjectsErrorKey: String = "NSAffectedObjectsErrorKey"

/// The key of the merge conflicts that a save met.
public let NSPersistentStoreSaveConflictsErrorKey: String = "conflictList"

/// The domain of SQLite's own codes, and the key under which an error's user info holds one.
public let NSSQLiteErrorDomain: String = "NSSQLiteErrorDomain"

extension CocoaError {
    /// The objects that the error is about.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }

    /// The stores that the error is about.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }

    /// The name of the property that is not valid.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }

    /// The object that is not valid.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }

    /// The validation predicate that was not met.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }

    /// The value that is not valid.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
}
