import CoreData

/// Work in a context that is one step for its undo manager, or no step if it fails.
struct UndoStep {
    private let context: NSManagedObjectContext

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// Does the work. If it throws, its changes are reverted and the step is discarded; inside a group that the caller
    /// has opened, a step without changes remains.
    func perform(_ work: () throws -> Void, takingBack: () -> Void) throws {
        context.processPendingChanges()
        guard let manager = context.undoManager else {
            do { return try work() } catch {
                takingBack()
                throw error
            }
        }
        let isOutermost = manager.groupingLevel == 0
        manager.beginUndoGrouping()
        do {
            try work()
            context.processPendingChanges()
            manager.endUndoGrouping()
        } catch {
            takingBack()
            context.processPendingChanges()
            // The group must not be empty: it is the last one, and the one before it is the user's.
            manager.registerUndo(withTarget: context) { _ in }
            manager.endUndoGrouping()
            if isOutermost {
                // Undone while registration is disabled, so that there is nothing to redo.
                manager.disableUndoRegistration()
                manager.undo()
                manager.enableUndoRegistration()
            }
            throw error
        }
    }
}
