import Foundation

/// The results of a request at one moment: object IDs in order, divided into sections.
///
/// The members have the names that Apple's interface frameworks use for snapshots of data sources.
public struct FetchedResultsSnapshot: Sendable, Equatable {
    private struct Section: Sendable, Equatable {
        let name: String
        let range: Range<Int>
    }

    private let sections: [Section]

    /// The IDs of all objects, in order.
    public let itemIdentifiers: [NSManagedObjectID]

    /// The IDs of those objects that have changed or moved since the snapshot before, in order.
    public let reloadedItemIdentifiers: [NSManagedObjectID]

    init(of list: ResultsList, changed: [NSManagedObject], coordinator: NSPersistentStoreCoordinator?) {
        var maker = ObjectIDMaker(coordinator)
        sections = list.sections.map { Section(name: $0.name, range: $0.range) }
        itemIdentifiers = list.objects.map { $0.objectID(by: &maker) }
        reloadedItemIdentifiers = changed.map { $0.objectID(by: &maker) }
    }

    private init(_ snapshot: FetchedResultsSnapshot, reloading identifiers: [NSManagedObjectID]) {
        sections = snapshot.sections
        itemIdentifiers = snapshot.itemIdentifiers
        reloadedItemIdentifiers = identifiers
    }

    /// The same items, with those marked too that have changed before and are still there.
    func reloading(_ earlier: [NSManagedObjectID]) -> FetchedResultsSnapshot {
        let changed = Set(reloadedItemIdentifiers).union(earlier)
        return FetchedResultsSnapshot(self, reloading: itemIdentifiers.filter { changed.contains($0) })
    }

    /// How many items there are in all sections.
    public var numberOfItems: Int { itemIdentifiers.count }

    /// How many sections there are.
    public var numberOfSections: Int { sections.count }

    /// The names of the sections; one empty name where results are not divided.
    public var sectionIdentifiers: [String] { sections.map(\.name) }

    /// How many items a section has; 0 where there is no such section.
    public func numberOfItems(inSection name: String) -> Int {
        indexOfSection(name).map { sections[$0].range.count } ?? 0
    }

    /// The IDs of a section's items; none where there is no such section.
    public func itemIdentifiers(inSection name: String) -> [NSManagedObjectID] {
        indexOfSection(name).map { Array(itemIdentifiers[sections[$0].range]) } ?? []
    }

    /// The name of the section with an item; nil where there is none. Cost: a look at each item.
    public func sectionIdentifier(containingItem identifier: NSManagedObjectID) -> String? {
        indexOfItem(identifier).flatMap { index in sections.first { $0.range.contains(index) }?.name }
    }

    /// The position of an item among all; nil where there is none. Cost: a look at each item.
    public func indexOfItem(_ identifier: NSManagedObjectID) -> Int? { itemIdentifiers.firstIndex(of: identifier) }

    /// The position of a section; nil where there is none.
    public func indexOfSection(_ name: String) -> Int? { sections.firstIndex { $0.name == name } }

    /// What leads from another snapshot's items to these, by position. Items that are in both and have not moved but changed
    /// are not part of it: ``reloadedItemIdentifiers`` has them.
    public func difference(from other: FetchedResultsSnapshot) -> CollectionDifference<NSManagedObjectID> {
        itemIdentifiers.difference(from: other.itemIdentifiers).inferringMoves()
    }
}
