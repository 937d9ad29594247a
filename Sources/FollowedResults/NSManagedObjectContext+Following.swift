import Foundation
import ManagedObjects

// Followed results for programs without a user interface: an addition to Core Data's API.

extension NSManagedObjectContext {
    /// The results of a request as snapshots of object IDs: the present one first, then another one after each change.
    ///
    /// Unsaved changes of the context are included. A snapshot's ``FetchedResultsSnapshot/reloadedItemIdentifiers`` are
    /// the objects that have changed since the previous snapshot that was returned, including those of skipped
    /// snapshots.
    ///
    /// Cost: a fetch at the beginning. Afterwards a change costs no statement, or one if `NSFetchedResultsController`
    /// needs one; changes of another process cost two.
    ///
    /// - Parameters:
    ///   - request: A request for managed objects with at least one sort descriptor.
    ///   - sectionNameKeyPath: The key path that divides the results into sections, as for
    ///     `NSFetchedResultsController`.
    public func results<Object>(
        of request: NSFetchRequest<Object>, sectionNameKeyPath: String? = nil
    ) -> FollowedValues<FetchedResultsSnapshot> {
        let coordinator = rootCoordinator
        return followedResults(of: request, sectionNameKeyPath: sectionNameKeyPath) { list, changed in
            FetchedResultsSnapshot(of: list, changed: changed, coordinator: coordinator)
        } merging: { older, newer in
            newer.reloading(older.reloadedItemIdentifiers)
        }
    }

    /// The results of a request, each object transformed by a function on the context's queue.
    ///
    /// ```swift
    /// for try await titles in context.results(of: request, as: { note in note.title }) { … }
    /// ```
    ///
    /// Cost: as for ``results(of:sectionNameKeyPath:)``, and a call of the function for each object after each change.
    public func results<Object, Value: Sendable>(
        of request: NSFetchRequest<Object>, as value: @escaping @Sendable (Object) -> Value
    ) -> FollowedValues<[Value]> {
        followedResults(of: request, sectionNameKeyPath: nil) { list, _ in
            list.objects.compactMap { ($0 as? Object).map(value) }
        }
    }

    private func followedResults<Object, Value: Sendable>(
        of request: NSFetchRequest<Object>, sectionNameKeyPath: String?,
        _ make: @escaping @Sendable (ResultsList, [NSManagedObject]) -> Value,
        merging merge: @escaping @Sendable (Value, Value) -> Value = { $1 }
    ) -> FollowedValues<Value> {
        // Unsafe because the copy is only read, by one follower at a time.
        nonisolated(unsafe) let specification = request.specification
        return FollowedValues { latest in
            let results = FetchedResults(
                of: NSFetchRequest<Object>(specification: specification), in: self,
                sectionNameKeyPath: sectionNameKeyPath, cacheName: nil)
            return ResultsFollower(results, latest, make: make, merge: merge)
        }
    }

    /// The number of objects that a request matches, and again after each change of that number. Unsaved changes of the
    /// context are included.
    ///
    /// Cost: one statement at the beginning, one for each event with an object that can affect the request, and another
    /// one for each such save if a key path of the request passes through a relationship.
    public func counts<Object>(of request: NSFetchRequest<Object>) -> FollowedValues<Int> {
        // Unsafe because the copy is only read.
        nonisolated(unsafe) let specification = request.specification
        return followed(specification) { context in
            try context.countOfResults(specification)
        }
    }

    /// The sum, average, smallest or greatest value of an attribute over the objects that a request matches, and again
    /// after each change of that number. Unsaved changes of the context are included; nil if there is no value.
    ///
    /// Cost: as for ``counts(of:)``. While the context has unsaved changes, the objects are fetched each time.
    public func aggregates<Object>(
        _ aggregate: FetchedAggregate, of attribute: String, over request: NSFetchRequest<Object>
    ) -> FollowedValues<Decimal?> {
        // Unsafe because the copy is only read.
        nonisolated(unsafe) let specification = request.specification
        return followed(specification) { try aggregate.value(of: attribute, over: specification, in: $0) }
    }

    /// One object transformed by a function on the context's queue: immediately, and after each change that alters the
    /// result. Ends when the object is deleted. An inserted object is followed beyond its first save, which gives it another ID.
    ///
    /// Cost: one statement at the beginning if the object is a fault, and one after each write of another process.
    public func observe<Value: Sendable & Equatable>(
        _ objectID: NSManagedObjectID, as value: @escaping @Sendable (NSManagedObject) -> Value
    ) -> FollowedValues<Value> {
        FollowedValues { latest in
            let observed = ObservedObject(objectID)
            return QueryFollower(self, latest) {
                $0.objectID == observed.id
            } value: { context, othersHaveWritten in
                guard let object = try? context.existingObject(with: observed.id), !object.isDeleted else { return nil }
                observed.keep(object)
                if othersHaveWritten { context.refresh(object, mergeChanges: true) }
                return object.context == nil ? nil : value(object)
            }
        }
    }

    /// Computes a value again whenever an object changes that can affect a request.
    private func followed<Value: Sendable & Equatable>(
        _ specification: FetchSpecification, _ value: @escaping @Sendable (NSManagedObjectContext) throws -> Value
    ) -> FollowedValues<Value> {
        // Unsafe because the copy is only read.
        nonisolated(unsafe) let specification = specification
        return FollowedValues { latest in
            let model = self.rootCoordinator?.managedObjectModel
            let entity = model.flatMap { try? specification.entity(in: $0) }
            let own = entity?.subtree ?? 0..<0
            let reach = entity.map { RequestReach(of: specification, entity: $0, sectionNameKeyPath: nil) }
            let dependsOnSaves = reach?.isWide == true || !specification.includesPendingChanges
            return QueryFollower(self, latest, dependsOnSaves: dependsOnSaves) { object in
                own.contains(object.entityIndex) || reach?.contains(object.entityIndex) == true
            } value: { context, _ in
                try value(context)
            }
        }
    }
}

/// The object that is observed, by the ID that it has at the moment.
private final class ObservedObject: @unchecked Sendable {  // because the context's queue guards it
    private let initialID: NSManagedObjectID
    /// The object, if the initial ID is temporary: only the object knows the permanent one.
    private var object: NSManagedObject?

    init(_ id: NSManagedObjectID) { initialID = id }

    var id: NSManagedObjectID { object?.objectID ?? initialID }

    func keep(_ object: NSManagedObject) {
        if initialID.isTemporaryID { self.object = object }
    }
}
