import CoreData
import Foundation

/// The rows of a list of stops, for a table view.
public protocol StopListControllerDelegate: AnyObject {
    func stopListDidChange(_ changes: [StopListController.Change])
}

/// Fetches the stops by trip and name and reports changes.
public final class StopListController: NSObject, NSFetchedResultsControllerDelegate {
    public enum Change: Equatable {
        case insertedRow(IndexPath)
        case deletedRow(IndexPath)
        case updatedRow(IndexPath)
        case movedRow(IndexPath, IndexPath)
        case insertedSection(Int)
        case deletedSection(Int)
    }

    public weak var delegate: StopListControllerDelegate?
    private var changes: [Change] = []
    private let controller: NSFetchedResultsController<Stop>

    public init(context: NSManagedObjectContext, trip: Trip? = nil) {
        let request: NSFetchRequest<Stop> = Stop.fetchRequest()
        if let trip { request.predicate = NSPredicate(format: "%K == %@", #keyPath(Stop.trip), trip) }
        request.sortDescriptors = [
            NSSortDescriptor(key: #keyPath(Stop.trip.name), ascending: true),
            NSSortDescriptor(key: #keyPath(Stop.name), ascending: true),
        ]
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: #keyPath(Stop.trip.name),
            cacheName: nil)
        super.init()
        controller.delegate = self
    }

    public func performFetch() throws {
        try controller.performFetch()
    }

    public var numberOfSections: Int { controller.sections?.count ?? 0 }

    public func numberOfRows(in section: Int) -> Int { controller.sections?[section].numberOfObjects ?? 0 }

    public func title(of section: Int) -> String? { controller.sections?[section].name }

    public func stop(at indexPath: IndexPath) -> Stop { controller.object(at: indexPath) }

    public func indexPath(of stop: Stop) -> IndexPath? { controller.indexPath(forObject: stop) }

    // MARK: - NSFetchedResultsControllerDelegate

    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        changes = []
    }

    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        switch type {
        case .insert: changes.append(.insertedSection(sectionIndex))
        case .delete: changes.append(.deletedSection(sectionIndex))
        default: break
        }
    }

    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        switch type {
        case .insert: changes.append(.insertedRow(newIndexPath!))
        case .delete: changes.append(.deletedRow(indexPath!))
        case .update: changes.append(.updatedRow(indexPath!))
        case .move: changes.append(.movedRow(indexPath!, newIndexPath!))
        @unknown default: break
        }
    }

    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        delegate?.stopListDidChange(changes)
    }
}
