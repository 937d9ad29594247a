import Foundation
import ManagedObjects

/// The form in which a delegate receives changes.
enum DelegateForm {
    case snapshot
    case difference
    case calls
}

extension FetchedResults {
    typealias AnyController = NSFetchedResultsController<any NSFetchRequestResult>

    /// Passes the first snapshot to a delegate that receives snapshots.
    func notify(
        _ delegate: any NSFetchedResultsControllerDelegate, fetched list: ResultsList, as controller: AnyController
    ) {
        guard form == nil || form == .snapshot else { return }
        if sendSnapshot(delegate, of: list, changed: [], as: controller) { form = .snapshot }
    }

    /// Reports a change to the delegate in the form that it implements.
    func notify(
        _ delegate: any NSFetchedResultsControllerDelegate, _ change: ResultsChange, as controller: AnyController
    ) {
        if form == nil || form == .snapshot {
            if sendSnapshot(delegate, of: change.new, changed: change.changedObjects, as: controller) {
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
        notifyOneByOne(delegate, change, as: controller)
    }

    /// - Returns: Whether the delegate receives snapshots.
    private func sendSnapshot(
        _ delegate: any NSFetchedResultsControllerDelegate, of list: ResultsList, changed: [NSManagedObject],
        as controller: AnyController
    ) -> Bool {
        var snapshot = NSDiffableDataSourceSnapshotReference(of: list, changed: changed, in: context)
        defaultWasCalled = false
        delegate.controller(controller, didChangeContentWith: snapshot)
        if defaultWasCalled { return false }
        // The delegate retains the snapshot, so its content is read now, while the objects still have their IDs.
        if !isKnownUniquelyReferenced(&snapshot) { _ = snapshot.content }
        return true
    }

    private func notifyOneByOne(
        _ delegate: any NSFetchedResultsControllerDelegate, _ change: ResultsChange, as controller: AnyController
    ) {
        guard !change.objects.isEmpty else { return }
        delegate.controllerWillChangeContent(controller)
        for index in change.deletedSections {
            // A removed section has no objects.
            let removed = ResultsList.Section(name: change.old.sections[index].name, range: 0..<0)
            let section = FetchedSection(removed, of: change.old, results: self)
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
    /// The change as a difference of IDs by position. It contains every object of the list if only IDs have changed.
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
        // Each position occurs once and associations are mutual, so the initialiser succeeds.
        return CollectionDifference(steps) ?? new.objects.map(\.objectID).difference(from: old.objects.map(\.objectID))
    }
}
