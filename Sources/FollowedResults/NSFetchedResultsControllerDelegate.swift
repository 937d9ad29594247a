import Foundation
import ManagedObjects

/// Receives the changes of a controller's results.
///
/// A delegate implements any of the methods; each has a default. Changes are reported in one of three forms, the first
/// that the delegate implements: as a snapshot; as a difference, if there are no sections; or one by one, between
/// ``controllerWillChangeContent(_:)`` and ``controllerDidChangeContent(_:)``. The controller already has its new state
/// when any of these methods is called.
///
/// The `controller` parameter is the calling controller without its result type: it equals it and is identical to it
/// (`==`, `===`), and has the same results.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// The results have been fetched or have changed.
    ///
    /// - Parameter snapshot: Section names and object IDs. Objects that have changed or moved are marked as reloaded. A
    ///   new object has a temporary ID until it is saved; then another snapshot contains the permanent ID.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// The results of a controller without sections have changed.
    ///
    /// - Parameter diff: Positions before and after. A move is a pair of an associated removal and insertion; an update
    ///   is one too, as is an object whose ID has become permanent.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// An object has changed; called after all changes of sections.
    ///
    /// - Parameters:
    ///   - indexPath: The object's path before any of the changes; nil for an insertion.
    ///   - newIndexPath: The object's path after all of them; nil for a deletion.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// A section was removed or inserted.
    ///
    /// - Parameter sectionIndex: The index before the changes for a removed section, the index after them for an
    ///   inserted one.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)

    /// The following calls report changes one by one.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// All changes have been reported.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// The index title of a section; by default the first letter of its name in upper case.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

// Swift has no optional methods without Objective-C: the default implementations of the first two record that the
// delegate does not implement them, and changes are reported in the next form.

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

/// A section of fetched results.
public protocol NSFetchedResultsSectionInfo {
    /// The value of the section key path as text; empty if the value is nil or there is no key path.
    var name: String { get }
    /// The title of the section in an index; see `NSFetchedResultsController.sectionIndexTitle(forSectionName:)`.
    var indexTitle: String? { get }
    /// The number of objects in the section.
    var numberOfObjects: Int { get }
    /// The section's objects, in order.
    var objects: [Any]? { get }
}

/// A section of an immutable list.
final class FetchedSection: NSFetchedResultsSectionInfo {
    private let list: ResultsList
    private let section: ResultsList.Section
    private weak var results: FetchedResults?

    init(_ section: ResultsList.Section, of list: ResultsList, results: FetchedResults) {
        self.list = list
        self.section = section
        self.results = results
    }

    var name: String { section.name.text }
    var indexTitle: String? { results?.indexTitle(forSectionName: name) }
    var numberOfObjects: Int { section.range.count }
    var objects: [Any]? { Array(list.objects[section.range]) }
}

// Apple's interface frameworks add these members to IndexPath; Foundation does not have them.

extension IndexPath {
    /// The path of a row of a section, both from 0.
    public init(row: Int, section: Int) {
        self.init(indexes: [section, row])
    }

    /// The path of an item of a section, both from 0.
    public init(item: Int, section: Int) {
        self.init(indexes: [section, item])
    }

    /// The section: the first index. The path must have two indexes.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The row in the section: the second index, the same as ``item``. The path must have two indexes.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The item in the section: the second index, the same as ``row``. The path must have two indexes.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
