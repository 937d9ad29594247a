import Foundation

/// Is told of changes to the results of a controller.
///
/// A delegate implements any of the methods; each has a default. Changes are told in one of three forms, the first that the
/// delegate implements: as a snapshot; as a difference, where there are no sections; or one by one, between
/// ``controllerWillChangeContent(_:)`` and ``controllerDidChangeContent(_:)``. In all of them the controller has its new
/// state already.
///
/// The controller that methods are given is the one that tells, seen without its result type: it equals it and is identical
/// to it (`==`, `===`), and has the same results.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// The results have been fetched or have changed.
    ///
    /// - Parameter snapshot: Section names and object IDs. Objects that have changed or moved are marked as reloaded. A new
    ///   object has a temporary ID until it is saved; then another snapshot tells the permanent one.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// The results of a controller without sections have changed.
    ///
    /// - Parameter diff: Positions before and after. A move is a removal and an insertion that are associated; an update is
    ///   one too, as is an object whose ID has become permanent.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// An object has changed; told after all changes of sections.
    ///
    /// - Parameters:
    ///   - indexPath: Where the object was before any of the changes; nil for an insertion.
    ///   - newIndexPath: Where it is after all of them; nil for a deletion.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// A section is gone or new.
    ///
    /// - Parameter sectionIndex: Of a section that is gone the index before the changes, of a new one the index after them.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)

    /// Changes are going to be told one by one.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// All changes have been told.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// What stands for a section in an index; by default the first letter of its name, as a capital.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

// Swift has no optional methods without Objective-C: the defaults of the first two say that they are not implemented, and
// changes are told in the next form.

extension NSFetchedResultsControllerDelegate {
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        controller.results.defaultWasCalled = true
    }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        controller.results.defaultWasCalled = true
    }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {}

    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        FetchedResults.initial(of: sectionName)
    }
}
