import Foundation

/// The form in which a delegate wants to be told of changes.
enum DelegateForm {
    case snapshot
    case difference
    case calls
}

extension FetchedResults {
    typealias AnyController = NSFetchedResultsController<any NSFetchRequestResult>

    /// Gives the delegate the first snapshot, where it wants snapshots.
    func tell(
        _ delegate: any NSFetchedResultsControllerDelegate, fetched list: ResultsList, as controller: AnyController
    ) {
        guard form == nil || form == .snapshot else { return }
        if tellSnapshot(delegate, of: list, changed: [], as: controller) { form = .snapshot }
    }

    /// Tells the delegate of a change, in the form that it wants.
    func tell(_ delegate: any NSFetchedResultsControllerDelegate, _ change: ResultsChange, as controller: AnyController)
    {
        if form == nil || form == .snapshot {
            if tellSnapshot(delegate, of: change.new, changed: change.changedObjects, as: controller) {
                form = .snapshot
                return
            }
        }
        if sectionNameKeyPath == nil, form == nil || form == .difference {
            defaultWasCalled = false
            delegate.controller(controller, didChangeContentWith: change.difference(of: context))
            if !defaultWasCalled {
                form = .difference
                return
            }
        }
        form = .calls
        tellOneByOne(delegate, change, as: controller)
    }

    /// - Returns: Whether the delegate takes snapshots.
    private func tellSnapshot(
        _ delegate: any NSFetchedResultsControllerDelegate, of list: ResultsList, changed: [NSManagedObject],
        as controller: AnyController
    ) -> Bool {
        var snapshot = NSDiffableDataSourceSnapshotReference(of: list, changed: changed, in: context)
        defaultWasCalled = false
        delegate.controller(controller, didChangeContentWith: snapshot)
        if defaultWasCalled { return false }
        // Kept by the delegate, perhaps for longer than the objects have their IDs.
        if !isKnownUniquelyReferenced(&snapshot) { _ = snapshot.content }
        return true
    }

    private func tellOneByOne(
        _ delegate: any NSFetchedResultsControllerDelegate, _ change: ResultsChange, as controller: AnyController
    ) {
        guard !change.objects.isEmpty else { return }
        delegate.controllerWillChangeContent(controller)
        for index in change.deletedSections {
            let section = FetchedSection(change.old.sections[index], of: change.old, results: self)
            delegate.controller(controller, didChange: section, atSectionIndex: index, for: .delete)
        }
        for index in change.insertedSections {
            let section = FetchedSection(change.new.sections[index], of: change.new, results: self)
            delegate.controller(controller, didChange: section, atSectionIndex: index, for: .insert)
        }
        for object in change.objects {
            delegate.controller(
                controller, didChange: change.object(of: object), at: object.old.map(change.old.indexPath),
                for: object.type, newIndexPath: object.new.map(change.new.indexPath))
        }
        delegate.controllerDidChangeContent(controller)
    }
}

extension ResultsChange {
    /// The change as positions of IDs. Every object of the list where only IDs have changed.
    func difference(of context: NSManagedObjectContext) -> CollectionDifference<NSManagedObjectID> {
        var maker = ObjectIDMaker(context.rootCoordinator)
        let changed =
            objects.isEmpty ? new.objects.indices.map { ObjectChange(type: .update, old: $0, new: $0) } : objects
        var steps: [CollectionDifference<NSManagedObjectID>.Change] = []
        for change in changed {
            let id = object(of: change).objectID(by: &maker)
            if let old = change.old { steps.append(.remove(offset: old, element: id, associatedWith: change.new)) }
            if let new = change.new { steps.append(.insert(offset: new, element: id, associatedWith: change.old)) }
        }
        // Every position is named once, and associations are mutual: so there is a difference.
        return CollectionDifference(steps) ?? new.objects.map(\.objectID).difference(from: old.objects.map(\.objectID))
    }
}
