import Foundation

// Live results for programs without a user interface: an addition to Core Data's API.

extension NSManagedObjectContext {
    /// The results of a request as snapshots of object IDs, the present one first, and another one after each change.
    ///
    /// Unsaved changes of the context count. A snapshot's ``FetchedResultsSnapshot/reloadedItemIdentifiers`` are the objects
    /// that have changed since the snapshot that was taken before, also where others between were skipped.
    ///
    /// Cost: a fetch at the beginning. Then a change costs no statement, or one where `NSFetchedResultsController` needs
    /// one; what another process has written costs two.
    ///
    /// - Parameters:
    ///   - request: A request for managed objects with at least one sort descriptor.
    ///   - sectionNameKeyPath: What divides the results into sections, as for `NSFetchedResultsController`.
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

    /// The results of a request as values that a function makes of each object, on the context's queue.
    ///
    /// ```swift
    /// for try await titles in context.results(of: request, as: { note in note.title }) { … }
    /// ```
    ///
    /// Cost: as for ``results(of:sectionNameKeyPath:)``, and a call for each object after each change.
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
        // Unsafe because the copy is read only, by one follower at a time.
        nonisolated(unsafe) let specification = request.specification
        return FollowedValues { latest in
            let results = FetchedResults(
                of: NSFetchRequest<Object>(specification: specification), in: self,
                sectionNameKeyPath: sectionNameKeyPath, cacheName: nil)
            return ResultsFollower(results, latest, make: make, merge: merge)
        }
    }

    /// How many objects a request finds, and again after each change of that number. Unsaved changes of the context count.
    ///
    /// Cost: one statement at the beginning, one for each event with an object that the request can concern, and another one
    /// for each such save where a key path of the request leads through a relationship.
    public func counts<Object>(of request: NSFetchRequest<Object>) -> FollowedValues<Int> {
        // Unsafe because the copy is read only.
        nonisolated(unsafe) let specification = request.specification
        return followed(specification) { context in
            try context.count(for: NSFetchRequest<NSManagedObject>(specification: specification))
        }
    }

    /// The sum, average, smallest or greatest value of an attribute over the objects that a request finds, and again after
    /// each change of that number. Unsaved changes of the context count; nil where there is no value.
    ///
    /// Cost: as for ``counts(of:)``. As long as the context has unsaved changes, the objects are fetched each time.
    public func aggregates<Object>(
        _ aggregate: FetchedAggregate, of attribute: String, over request: NSFetchRequest<Object>
    ) -> FollowedValues<Decimal?> {
        // Unsafe because the copy is read only.
        nonisolated(unsafe) let specification = request.specification
        return followed(specification) { try aggregate.value(of: attribute, over: specification, in: $0) }
    }

    /// What a function makes of one object, on the context's queue: at once, and after each change that makes a difference. Ends
    /// when the object is deleted.
    ///
    /// Cost: a statement at the beginning where the object is a fault, and one where another process has written.
    public func observe<Value: Sendable & Equatable>(
        _ objectID: NSManagedObjectID, as value: @escaping @Sendable (NSManagedObject) -> Value
    ) -> FollowedValues<Value> {
        FollowedValues { latest in
            QueryFollower(self, latest) {
                $0.objectID == objectID
            } value: { context, othersHaveWritten in
                guard let object = try? context.existingObject(with: objectID), !object.isDeleted else { return nil }
                if othersHaveWritten { context.refresh(object, mergeChanges: true) }
                return object.context == nil ? nil : value(object)
            }
        }
    }

    /// Asks again whenever an object changes that a request can concern.
    private func followed<Value: Sendable & Equatable>(
        _ specification: FetchSpecification, _ value: @escaping @Sendable (NSManagedObjectContext) throws -> Value
    ) -> FollowedValues<Value> {
        // Unsafe because the copy is read only.
        nonisolated(unsafe) let specification = specification
        return FollowedValues { latest in
            let model = self.rootCoordinator?.managedObjectModel
            let entity = model.flatMap { try? specification.entity(in: $0) }
            let own = entity?.subtree ?? 0..<0
            let reach = entity.map { RequestReach(of: specification, entity: $0, sectionNameKeyPath: nil) }
            return QueryFollower(self, latest, dependsOnOthers: reach?.isWide == true) { object in
                own.contains(object.layout.index) || reach?.contains(object.layout.index) == true
            } value: { context, _ in
                try value(context)
            }
        }
    }
}
