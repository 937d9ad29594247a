/// The change of one property of an object by a transaction: an addition to Core Data's API. See
/// ``NSPersistentHistoryChange/propertyChanges()``.
public enum HistoryPropertyChange {
    /// The values of an attribute, or the IDs of a to-one relationship, before and after; nil for none.
    case value(old: Any?, new: Any?)
    /// The removed and added members of a many-to-many relationship, sorted.
    case members(removed: [NSManagedObjectID], added: [NSManagedObjectID])
}
