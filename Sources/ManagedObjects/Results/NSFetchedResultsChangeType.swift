/// What has happened to an object or a section of fetched results.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// The object or section is new.
    case insert = 1
    /// The object or section is gone.
    case delete = 2
    /// The object has changed and has another place. No update is told beside it.
    case move = 3
    /// The object has changed, and has kept its place among those that have not moved.
    case update = 4
}
