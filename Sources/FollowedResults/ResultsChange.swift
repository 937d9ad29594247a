import Foundation
import ManagedObjects

/// The difference between two lists of results.
struct ResultsChange {
    struct ObjectChange {
        let type: NSFetchedResultsChangeType
        /// The object's position in the old list; nil for an insertion.
        let old: Int?
        /// The object's position in the new list; nil for a deletion.
        let new: Int?
    }

    let old: ResultsList
    let new: ResultsList
    /// Deletions and insertions, then moves and updates, each in the order of positions.
    let objects: [ObjectChange]
    /// The positions of removed sections in the old list.
    let deletedSections: [Int]
    /// The positions of inserted sections in the new list.
    let insertedSections: [Int]

    /// - Parameters:
    ///   - moves: Positions before and after. Objects that are in none of the parameters, and those of `updates`, keep
    ///     their order and their section's name.
    ///   - updates: Positions before and after.
    init(
        from old: ResultsList, to new: ResultsList, deletions: [Int], insertions: [Int], moves: [(Int, Int)],
        updates: [(Int, Int)]
    ) {
        self.old = old
        self.new = new
        var objects = deletions.map { ObjectChange(type: .delete, old: $0, new: nil) }
        objects += insertions.map { ObjectChange(type: .insert, old: nil, new: $0) }
        objects += moves.map { ObjectChange(type: .move, old: $0.0, new: $0.1) }
        objects += updates.map { ObjectChange(type: .update, old: $0.0, new: $0.1) }
        self.objects = objects
        var arrivals = [Int](repeating: 0, count: new.sections.count)
        for position in insertions + moves.map(\.1) { arrivals[new.sectionIndex(of: position)] += 1 }
        (deletedSections, insertedSections) = Self.sections(from: old, to: new, arrivals: arrivals)
    }

    /// A change in which only IDs differ: the objects are the same.
    init(samePlacesIn list: ResultsList) {
        (old, new, objects, deletedSections, insertedSections) = (list, list, [], [], [])
    }

    /// The objects that have changed and were not deleted, in their new order.
    var changedObjects: [NSManagedObject] {
        objects.filter { $0.old != nil }.compactMap(\.new).sorted().map { new.objects[$0] }
    }

    /// The object of a change.
    func object(of change: ObjectChange) -> NSManagedObject {
        if let position = change.new { return new.objects[position] }
        return old.objects[change.old ?? 0]
    }

    /// Determines which sections were removed and which were inserted. A section whose name is in both lists is removed
    /// and inserted if its position has changed, unless it contains an object that has stayed: such objects keep their
    /// order.
    private static func sections(
        from old: ResultsList, to new: ResultsList, arrivals: [Int]
    ) -> (deleted: [Int], inserted: [Int]) {
        if old.sections.map(\.name) == new.sections.map(\.name) {
            // The usual case. The exception is that all objects of two sections have been exchanged.
            return ([], [])
        }
        let newIndexes = Dictionary(uniqueKeysWithValues: new.sections.enumerated().map { ($1.name, $0) })
        func staysFor(_ newIndex: Int) -> Bool { new.sections[newIndex].range.count > arrivals[newIndex] }
        let found = old.sections.map { newIndexes[$0.name] }
        // For each section, the position of the next section that must stay.
        var limits = [Int](repeating: new.sections.count, count: found.count)
        var limit = new.sections.count
        for index in found.indices.reversed() {
            limits[index] = limit
            if let newIndex = found[index], staysFor(newIndex) { limit = newIndex }
        }
        var kept = Set<Int>()
        var deleted: [Int] = []
        var last = -1
        for (index, newIndex) in found.enumerated() {
            if let newIndex, newIndex > last, staysFor(newIndex) || newIndex < limits[index] {
                kept.insert(newIndex)
                last = newIndex
            } else {
                deleted.append(index)
            }
        }
        return (deleted, new.sections.indices.filter { !kept.contains($0) })
    }
}

extension Sequence<Int> {
    /// The positions, in the sequence, of a longest increasing subsequence.
    func longestAscent() -> Set<Int> {
        let numbers = Array(self)
        // For each length, the position of the smallest number that ends an increasing subsequence of that length.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: numbers.count)
        for (position, number) in numbers.enumerated() {
            let length = partitioningIndex(in: 0..<ends.count) { numbers[ends[$0]] >= number }
            if length > 0 { previous[position] = ends[length - 1] }
            if length == ends.count { ends.append(position) } else { ends[length] = position }
        }
        var ascent = Set<Int>(minimumCapacity: ends.count)
        var position = ends.last ?? -1
        while position >= 0 {
            ascent.insert(position)
            position = previous[position]
        }
        return ascent
    }
}

extension FollowedValues where Value == FetchedResultsSnapshot {
    /// The results as differences instead of snapshots: an addition to Core Data's API.
    ///
    /// ```swift
    /// var ids: [NSManagedObjectID] = []
    /// for try await difference in context.results(of: request).differences {
    ///     ids = ids.applying(difference) ?? []
    /// }
    /// ```
    public var differences: FetchedResultsDifferences { FetchedResultsDifferences(snapshots: self) }
}

/// The results of a request as differences between lists of object IDs: the first one inserts all objects into an empty list, and
/// each of the others leads from the list after the previous one to the current list.
///
/// An object that has moved is removed and inserted; so is an object that has changed and kept its place. In both cases the two
/// steps are associated with each other. A new object is removed and inserted without an association when it is saved,
/// because its ID changes then. Sections are not part of a difference.
///
/// Changes between two iterations are combined into one difference. Cost: that of the snapshots, and a step for each object of
/// the list.
public struct FetchedResultsDifferences: AsyncSequence, Sendable {
    public typealias Element = CollectionDifference<NSManagedObjectID>

    let snapshots: FollowedValues<FetchedResultsSnapshot>

    /// Waits for the differences of one iteration.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var snapshots: FollowedValues<FetchedResultsSnapshot>.AsyncIterator
        private var last: [NSManagedObjectID] = []

        fileprivate init(_ snapshots: FollowedValues<FetchedResultsSnapshot>.AsyncIterator) {
            self.snapshots = snapshots
        }

        /// The difference between the list after the previous difference and the current one; waits for a change. Nil after
        /// cancellation.
        ///
        /// - Throws: What the context throws when it fetches.
        public mutating func next() async throws -> CollectionDifference<NSManagedObjectID>? {
            guard let snapshot = try await snapshots.next() else { return nil }
            defer { last = snapshot.itemIdentifiers }
            return snapshot.difference(from: last, reloading: Set(snapshot.reloadedItemIdentifiers))
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(snapshots.makeAsyncIterator()) }
}
