// A delegate is given its controller without the result type, which is another object. So identity is that of the results. An
// operator that is a member must take one controller that is not optional: three forms for what is written.

extension NSFetchedResultsController {
    /// Whether two controllers are the same one, seen with any result type.
    public static func === <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>
    ) -> Bool {
        one.results === other.results
    }

    /// Whether two controllers are the same one, seen with any result type.
    public static func === <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>?
    ) -> Bool {
        one.results === other?.results
    }

    /// Whether two controllers are the same one, seen with any result type.
    public static func === <Other>(
        one: NSFetchedResultsController<Other>?, other: NSFetchedResultsController<ResultType>
    ) -> Bool {
        one?.results === other.results
    }

    /// Whether two controllers are different ones, seen with any result type.
    public static func !== <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>
    ) -> Bool {
        one.results !== other.results
    }

    /// Whether two controllers are different ones, seen with any result type.
    public static func !== <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>?
    ) -> Bool {
        one.results !== other?.results
    }

    /// Whether two controllers are different ones, seen with any result type.
    public static func !== <Other>(
        one: NSFetchedResultsController<Other>?, other: NSFetchedResultsController<ResultType>
    ) -> Bool {
        one?.results !== other.results
    }
}
