import Foundation

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
