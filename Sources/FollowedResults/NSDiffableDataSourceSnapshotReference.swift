import Foundation
import ManagedObjects

/// A snapshot of a controller's results for its delegate: section names and object IDs.
///
/// It has the read-only members of the class of that name in Apple's interface frameworks. ``content`` is the same
/// snapshot as a Swift value.
open class NSDiffableDataSourceSnapshotReference: NSObject {
    private let make: () -> FetchedResultsSnapshot

    /// The snapshot as a value.
    public private(set) final lazy var content: FetchedResultsSnapshot = make()

    /// A snapshot whose IDs are computed on first access.
    init(of list: ResultsList, changed: [NSManagedObject], in context: NSManagedObjectContext) {
        make = { FetchedResultsSnapshot(of: list, changed: changed, coordinator: context.rootCoordinator) }
    }

    /// A snapshot with the content of a value.
    public init(_ content: FetchedResultsSnapshot) {
        make = { content }
    }

    /// The number of items in all sections.
    open var numberOfItems: Int { content.numberOfItems }

    /// The number of sections.
    open var numberOfSections: Int { content.numberOfSections }

    /// The names of the sections, as `String`.
    open var sectionIdentifiers: [Any] { content.sectionIdentifiers }

    /// The IDs of all items, as `NSManagedObjectID`.
    open var itemIdentifiers: [Any] { content.itemIdentifiers }

    /// Always empty: a section has no content besides its items.
    open var reloadedSectionIdentifiers: [Any] { [] }

    /// The IDs of objects that have changed or moved.
    open var reloadedItemIdentifiers: [Any] { content.reloadedItemIdentifiers }

    /// Always empty.
    open var reconfiguredItemIdentifiers: [Any] { [] }

    /// The number of items of a section; 0 if there is no such section.
    open func numberOfItems(inSection sectionIdentifier: Any) -> Int {
        (sectionIdentifier as? String).map { content.numberOfItems(inSection: $0) } ?? 0
    }

    /// The IDs of a section's items; empty if there is no such section.
    open func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
        (sectionIdentifier as? String).map { content.itemIdentifiers(inSection: $0) } ?? []
    }

    /// The name of the section that contains an item; nil if there is none.
    open func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: Any) -> Any? {
        (itemIdentifier as? NSManagedObjectID).flatMap { content.sectionIdentifier(containingItem: $0) }
    }

    /// The index of an item among all items; `NSNotFound` if there is none.
    open func index(ofItemIdentifier itemIdentifier: Any) -> Int {
        (itemIdentifier as? NSManagedObjectID).flatMap { content.indexOfItem($0) } ?? NSNotFound
    }

    /// The index of a section; `NSNotFound` if there is none.
    open func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
        (sectionIdentifier as? String).flatMap { content.indexOfSection($0) } ?? NSNotFound
    }
}
