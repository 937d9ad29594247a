// A delegate is given its controller without the result type, which is another object. So identity is that of the results, which
// `isEqual(_:)` compares. An operator that is a member must take one controller that is not optional: three forms of each.
//
// The operators are in this module because the scoped re-export of a class leaves its member operators out, and an import
// declaration cannot name an operator.

import class ManagedObjects.NSFetchedResultsController

extension NSFetchedResultsController {
    /// Whether two controllers are the same one, seen with any result type.
    public static func === <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>
    ) -> Bool {
        one.isEqual(other)
    }

    /// Whether two controllers are the same one, seen with any result type.
    public static func === <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>?
    ) -> Bool {
        one.isEqual(other)
    }

    /// Whether two controllers are the same one, seen with any result type.
    public static func === <Other>(
        one: NSFetchedResultsController<Other>?, other: NSFetchedResultsController<ResultType>
    ) -> Bool {
        other.isEqual(one)
    }

    /// Whether two controllers are different ones, seen with any result type.
    public static func !== <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>
    ) -> Bool {
        !one.isEqual(other)
    }

    /// Whether two controllers are different ones, seen with any result type.
    public static func !== <Other>(
        one: NSFetchedResultsController<ResultType>, other: NSFetchedResultsController<Other>?
    ) -> Bool {
        !one.isEqual(other)
    }

    /// Whether two controllers are different ones, seen with any result type.
    public static func !== <Other>(
        one: NSFetchedResultsController<Other>?, other: NSFetchedResultsController<ResultType>
    ) -> Bool {
        !other.isEqual(one)
    }
}
