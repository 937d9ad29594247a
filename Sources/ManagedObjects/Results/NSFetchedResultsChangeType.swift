/// The kind of a change of an object or a section of fetched results.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// The object or section was inserted.
    case insert = 1
    /// The object or section was removed.
    case delete = 2
    /// The object has changed and has another position. No separate update is reported.
    case move = 3
    /// The object has changed, and its order among the objects that have not moved is the same.
    case update = 4
}
