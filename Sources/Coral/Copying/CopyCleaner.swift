import CoreData

/// Reverts the changes of a run that has failed.
final class CopyCleaner {
    private let context: NSManagedObjectContext
    /// Linked objects that had no unsaved changes before the run.
    private var unchanged: [NSManagedObjectID: NSManagedObject] = [:]
    private var met: Set<NSManagedObjectID> = []

    init(_ context: NSManagedObjectContext) {
        self.context = context
    }

    /// Records an object before a copy is linked to it.
    func willLink(_ object: NSManagedObject) {
        guard met.insert(object.objectID).inserted, !object.hasChanges else { return }
        unchanged[object.objectID] = object
    }

    /// Deletes unsaved copies. Their relationships are cleared first, so that no delete rule affects existing objects.
    ///
    /// - Parameter copies: In the order of the graph's objects; nil for copies that were not created.
    func remove(_ copies: [NSManagedObject?], graph: CopyGraph) {
        for (copy, node) in zip(copies, graph.nodes) {
            for relationship in node.entity.relationships {
                copy?.setValue(nil, forKey: relationship.target.name)
            }
        }
        for case let copy? in copies { context.delete(copy) }
        context.processPendingChanges()
        for object in unchanged.values where object.isUpdated { context.refresh(object, mergeChanges: false) }
    }
}
