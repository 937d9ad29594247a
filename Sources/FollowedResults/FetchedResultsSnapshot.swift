import Foundation
import ManagedObjects

/// The results of a request at one moment: object IDs in order, divided into sections.
///
/// The members have the names that Apple's interface frameworks use for snapshots of data sources.
public struct FetchedResultsSnapshot: Sendable, Equatable {
    private struct Section: Sendable, Equatable {
        let name: SectionName
        let range: Range<Int>
    }

    private let sections: [Section]

    /// The IDs of all objects, in order.
    public let itemIdentifiers: [NSManagedObjectID]

    /// The IDs of the objects that have changed or moved since the previous snapshot, in order.
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

    /// The same snapshot in which the objects of an earlier one that are still present are also marked as reloaded.
    func reloading(_ earlier: [NSManagedObjectID]) -> FetchedResultsSnapshot {
        let changed = Set(reloadedItemIdentifiers).union(earlier)
        return FetchedResultsSnapshot(self, reloading: itemIdentifiers.filter { changed.contains($0) })
    }

    /// The number of items in all sections.
    public var numberOfItems: Int { itemIdentifiers.count }

    /// The number of sections.
    public var numberOfSections: Int { sections.count }

    /// The names of the sections; one empty name if the results are not divided.
    public var sectionIdentifiers: [String] { sections.map(\.name.text) }

    /// The number of items of a section; 0 if there is no such section.
    public func numberOfItems(inSection name: String) -> Int {
        indexOfSection(name).map { sections[$0].range.count } ?? 0
    }

    /// The IDs of a section's items; empty if there is no such section.
    public func itemIdentifiers(inSection name: String) -> [NSManagedObjectID] {
        indexOfSection(name).map { Array(itemIdentifiers[sections[$0].range]) } ?? []
    }

    /// The name of the section that contains an item; nil if there is none. Cost: linear in the number of items.
    public func sectionIdentifier(containingItem identifier: NSManagedObjectID) -> String? {
        indexOfItem(identifier).flatMap { index in sections.first { $0.range.contains(index) }?.name.text }
    }

    /// The index of an item among all items; nil if there is none. Cost: linear in the number of items.
    public func indexOfItem(_ identifier: NSManagedObjectID) -> Int? { itemIdentifiers.firstIndex(of: identifier) }

    /// The index of a section; nil if there is none.
    public func indexOfSection(_ name: String) -> Int? {
        let name = SectionName(name)
        return sections.firstIndex { $0.name == name }
    }

    /// The difference between another snapshot's items and these, by position. Items that are in both and have changed
    /// without moving are not included; see ``reloadedItemIdentifiers``.
    public func difference(from other: FetchedResultsSnapshot) -> CollectionDifference<NSManagedObjectID> {
        difference(from: other.itemIdentifiers, reloading: [])
    }

    /// The same, with changed items too: the removal and the insertion of an item are associated with each other, as in the
    /// difference that `NSFetchedResultsController` reports.
    func difference(
        from old: [NSManagedObjectID], reloading changed: Set<NSManagedObjectID>
    ) -> CollectionDifference<NSManagedObjectID> {
        var oldPositions = Dictionary(old.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        // A controller whose context was reset keeps its results, to which the same IDs are added.
        guard oldPositions.count == old.count else { return itemIdentifiers.difference(from: old) }
        let olds = itemIdentifiers.map { oldPositions.removeValue(forKey: $0) }
        let candidates = olds.indices.filter { olds[$0] != nil }
        let stayed = Set(candidates.lazy.map { olds[$0] ?? 0 }.longestAscent().map { candidates[$0] })
        var steps = oldPositions.map {
            CollectionDifference.Change.remove(offset: $1, element: $0, associatedWith: nil)
        }
        for (position, item) in itemIdentifiers.enumerated() {
            if stayed.contains(position), !changed.contains(item) { continue }
            steps.append(.insert(offset: position, element: item, associatedWith: olds[position]))
            if let oldPosition = olds[position] {
                steps.append(.remove(offset: oldPosition, element: item, associatedWith: position))
            }
        }
        // Each position is in one step of a kind, and associations are mutual, so the difference exists.
        return CollectionDifference(steps) ?? itemIdentifiers.difference(from: old)
    }
}
