import CoreData

/// Takes back what an unfinished run has made.
final class CopyCleaner {
    private let context: NSManagedObjectContext
    /// Linked objects that had no changes before.
    private var unchanged: [NSManagedObjectID: NSManagedObject] = [:]
    private var met: Set<NSManagedObjectID> = []

    init(_ context: NSManagedObjectContext) {
        self.context = context
    }

    /// Notes an object before a copy is linked to it.
    func willLink(_ object: NSManagedObject) {
        guard met.insert(object.objectID).inserted, !object.hasChanges else { return }
        unchanged[object.objectID] = object
    }

    /// Deletes copies that are not saved. They let go of what they are related to first: no delete rule shall reach
    /// what was there before.
    ///
    /// - Parameter copies: In the order of the graph's objects; nil for what was not made.
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
