// A delegate receives its controller as another object, without the result type. Therefore `===` compares controllers by
// `isEqual(_:)`, which compares their results. A member operator must take at least one controller that is not optional, so
// each operator has three forms.
//
// The operators are in this module because the scoped re-export of a class leaves its member operators out, and an import
// declaration cannot name an operator.

extension NSFetchedResultsController {
    /// Whether two controllers are the same, regardless of their result types.
    public static func === <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>
    ) -> Bool {
        one.isEqual(other)
    }

    /// Whether two controllers are the same, regardless of their result types.
    public static func === <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>?
    ) -> Bool {
        one.isEqual(other)
    }

    /// Whether two controllers are the same, regardless of their result types.
    public static func === <Other>(
        one: NSFetchedResultsController<Other>?, other: NSFetchedResultsController<ResultType>
    ) -> Bool {
        other.isEqual(one)
    }

    /// Whether two controllers differ, regardless of their result types.
    public static func !== <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>
    ) -> Bool {
        !one.isEqual(other)
    }

    /// Whether two controllers differ, regardless of their result types.
    public static func !== <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>?
    ) -> Bool {
        !one.isEqual(other)
    }

    /// Whether two controllers differ, regardless of their result types.
    public static func !== <Other>(
        one: NSFetchedResultsController<Other>?, other: NSFetchedResultsController<ResultType>
    ) -> Bool {
        !other.isEqual(one)
    }
}
