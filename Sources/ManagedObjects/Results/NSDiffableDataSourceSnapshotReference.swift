import Foundation

/// What a delegate is given of a controller's results: section names and object IDs.
///
/// It has the reading members of the class of that name in Apple's interface frameworks. ``content`` is the same as a value of
/// Swift.
open class NSDiffableDataSourceSnapshotReference: NSObject {
    private let make: () -> FetchedResultsSnapshot

    /// The snapshot as a value.
    public private(set) final lazy var content: FetchedResultsSnapshot = make()

    /// A snapshot whose IDs are read when they are asked for first.
    init(of list: ResultsList, changed: [NSManagedObject], in context: NSManagedObjectContext) {
        make = { FetchedResultsSnapshot(of: list, changed: changed, coordinator: context.rootCoordinator) }
    }

    /// A snapshot with the content of a value.
    public init(_ content: FetchedResultsSnapshot) {
        make = { content }
    }

    /// How many items there are in all sections.
    open var numberOfItems: Int { content.numberOfItems }

    /// How many sections there are.
    open var numberOfSections: Int { content.numberOfSections }

    /// The names of the sections, as `String`.
    open var sectionIdentifiers: [Any] { content.sectionIdentifiers }

    /// The IDs of all items, as `NSManagedObjectID`.
    open var itemIdentifiers: [Any] { content.itemIdentifiers }

    /// Always empty: sections have nothing to reload but their items.
    open var reloadedSectionIdentifiers: [Any] { [] }

    /// The IDs of objects that have changed or moved.
    open var reloadedItemIdentifiers: [Any] { content.reloadedItemIdentifiers }

    /// Always empty.
    open var reconfiguredItemIdentifiers: [Any] { [] }

    /// How many items a section has; 0 where there is no such section.
    open func numberOfItems(inSection sectionIdentifier: Any) -> Int {
        (sectionIdentifier as? String).map { content.numberOfItems(inSection: $0) } ?? 0
    }

    /// The IDs of a section's items; none where there is no such section.
    open func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
        (sectionIdentifier as? String).map { content.itemIdentifiers(inSection: $0) } ?? []
    }

    /// The name of the section with an item; nil where there is none.
    open func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: Any) -> Any? {
        (itemIdentifier as? NSManagedObjectID).flatMap { content.sectionIdentifier(containingItem: $0) }
    }

    /// The position of an item among all; `NSNotFound` where there is none.
    open func index(ofItemIdentifier itemIdentifier: Any) -> Int {
        (itemIdentifier as? NSManagedObjectID).flatMap { content.indexOfItem($0) } ?? NSNotFound
    }

    /// The position of a section; `NSNotFound` where there is none.
    open func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
        (sectionIdentifier as? String).flatMap { content.indexOfSection($0) } ?? NSNotFound
    }
}
