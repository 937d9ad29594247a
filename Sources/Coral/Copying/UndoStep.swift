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
            // An empty group would be discarded, and `undo()` would then revert an earlier group, which is not part of this work.
            manager.registerUndo(withTarget: context) { _ in }
            manager.endUndoGrouping()
            if isOutermost {
                // Registration is disabled during the undo, so that no redo action is recorded.
                manager.disableUndoRegistration()
                manager.undo()
                manager.enableUndoRegistration()
            }
            throw error
        }
    }
}
