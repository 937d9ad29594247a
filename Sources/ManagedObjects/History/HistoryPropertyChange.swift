/// What a transaction has done to one property of an object: an addition to Core Data's API. See
/// ``NSPersistentHistoryChange/propertyChanges()``.
public enum HistoryPropertyChange {
    /// The values of an attribute, or the IDs of a to-one relationship, before and after; nil for none.
    case value(old: Any?, new: Any?)
    /// The members that a many-to-many relationship has lost and got, sorted.
    case members(removed: [NSManagedObjectID], added: [NSManagedObjectID])
}
