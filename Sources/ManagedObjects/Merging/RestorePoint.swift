import FoundationAdditions

// Errors of the store.
//
// A read in a function that cannot throw changes nothing if it fails: a fault stays a fault, members stay unloaded
// (`noteFailedRead`). Fetches, saves and merges collect these errors and throw the first (`throwingFailedReads`). An
// edit of a relationship, and delete rules, read all objects that they change before they change one. Work that cannot
// know what it will read, because code of the program runs in it or because it consists of many edits, returns to a
// `RestorePoint`: a merge, a refresh, the resolution of conflicts, the writing of a plan, a child's save in its parent,
// an undo. It keeps an object's state before the object is first changed, so that it costs as much as the changes.
// `FailingStoreTests` lets each call of the store fail in each operation.

/// The unsaved state of a context before work that may fail after it has begun to change objects: a merge, a refresh, and the
/// resolution of a save's conflicts, in which code of the program runs.
///
/// An object's state is kept before its first change. Objects that the current event has changed are kept at once, because the
/// context is not informed of their further changes. Members of relationships are not copied: these change in place, and are marked.
final class RestorePoint {
    private struct Kept {
        let object: NSManagedObject
        let state: ObjectState
        /// A mark of each to-many relationship that has a state.
        let marks: ContiguousArray<(state: ToManyState, mark: ToManyState.Mark)>
        let context: NSManagedObjectContext?
        let isRegistered: Bool
    }

    private let context: NSManagedObjectContext
    /// The point of the work that this work is a part of.
    private let outer: RestorePoint?
    private let lists: Lists
    private var kept: [ObjectIdentifier: Kept] = [:]
    /// Objects that were created after this point.
    private var new: [NSManagedObject] = []
    /// What follows when the work has succeeded.
    fileprivate var completions: [() -> Void] = []

    /// Cost: a step for each object that the current event has changed.
    init(_ context: NSManagedObjectContext) {
        self.context = context
        outer = context.restorePoint
        lists = Lists(context)
        for object in context.tracker.inEvent { keep(object) }
    }

    /// Keeps the state of an object that is about to change.
    func keep(_ object: NSManagedObject) {
        let id = ObjectIdentifier(object)
        guard kept[id] == nil else { return }
        var marks: ContiguousArray<(state: ToManyState, mark: ToManyState.Mark)> = []
        object.toMany.forEachMade { marks.append(($0, $0.mark())) }
        kept[id] = Kept(
            object: object, state: object.state, marks: marks, context: object.context,
            isRegistered: context.registry.object(for: object.key) === object)
    }

    /// Notes an object that is about to be inserted.
    func keepNew(_ object: NSManagedObject) {
        guard kept[ObjectIdentifier(object)] == nil else { return }
        keep(object)
        new.append(object)
    }

    /// Leaves what was kept to the outer point, after the work has succeeded.
    func leaveToOuter() {
        guard let outer else { return }
        outer.kept.merge(kept) { outer, _ in outer }
        outer.new += new
        outer.completions += completions
        completions = []
    }

    /// Ends the listing of changes to relationships, of which an outer point may still need some.
    func removeMarks() {
        for (id, kept) in kept where outer?.hasKept(id) != true {
            for (state, _) in kept.marks { state.removeMarks() }
            kept.object.toMany.forEachMade { $0.removeMarks() }
        }
    }

    private func hasKept(_ id: ObjectIdentifier) -> Bool { kept[id] != nil || outer?.hasKept(id) == true }

    /// Gives the context and its objects the state that they had. May be called repeatedly.
    func restore() {
        completions = []
        // Work that has not changed an object yet may have changed the lists, and read rows of another generation.
        guard !kept.isEmpty else {
            lists.restore(context)
            return context.removePrefetchedRows()
        }
        for object in new where context.registry.object(for: object.key) === object {
            _ = object.objectID
            context.registry.remove(object.key)
        }
        var listed = Set(context.changed.map(ObjectIdentifier.init))
        for kept in kept.values {
            kept.object.state = kept.state
            // The list has lost the objects that were only to be removed from it.
            kept.object.state.unmark(.unlisted)
            for (state, mark) in kept.marks { state.restore(to: mark) }
            kept.object.context = kept.context
            if kept.object.flags.contains(.listed), listed.insert(ObjectIdentifier(kept.object)).inserted {
                context.tracker.listAgain(kept.object)
            }
            guard kept.isRegistered, context.registry.object(for: kept.object.key) !== kept.object else { continue }
            context.registry.register(kept.object, as: kept.object.key)
        }
        context.tracker.remove { !$0.flags.contains(.listed) }
        lists.restore(context)
        context.removePrefetchedRows()
        removeMarks()
        (kept, new) = ([:], [])
        for object in context.tracker.inEvent { keep(object) }
    }

    /// What a context knows of changes, apart from its objects.
    private struct Lists {
        let changes: ChangeTracker.Point
        let mergedDeletions: ContiguousArray<NSManagedObject>
        let primitiveEdits: PrimitiveEdits
        let inPlaceValues: InPlaceValues
        let undoRecorder: UndoRecorder
        let undoSteps: UndoManager.Steps?
        let refreshedBySave: [NSManagedObject]
        let pinnedGenerations: PinnedGenerations?

        init(_ context: NSManagedObjectContext) {
            changes = context.tracker.point
            mergedDeletions = context.mergedDeletions
            primitiveEdits = context.primitiveEdits
            inPlaceValues = context.inPlaceValues
            undoRecorder = context.undoRecorder
            undoSteps = context.undoManager?.steps
            refreshedBySave = context.refreshedBySave
            pinnedGenerations = context.pinnedGenerations
        }

        func restore(_ context: NSManagedObjectContext) {
            context.tracker.restore(changes)
            context.mergedDeletions = mergedDeletions
            context.primitiveEdits = primitiveEdits
            context.inPlaceValues = inPlaceValues
            context.undoRecorder = undoRecorder
            if let undoSteps { context.undoManager?.steps = undoSteps }
            context.refreshedBySave = refreshedBySave
            context.pinnedGenerations = pinnedGenerations
        }
    }
}

extension NSManagedObjectContext {
    /// Runs a function: at once, or when the work has succeeded that would take its cause back.
    package final func whenCertain(_ function: @escaping () -> Void) {
        if let restorePoint { restorePoint.completions.append(function) } else { function() }
    }

    /// Runs work that reads and changes objects. If it or a read in it fails, the context is as it was before.
    ///
    /// Cost: a step for each object that the current event or the work has changed.
    final func restoringOnError<Result>(_ work: (RestorePoint) throws -> Result) throws -> Result {
        let outer = restorePoint
        let point = RestorePoint(self)
        restorePoint = point
        defer {
            restorePoint = outer
            point.removeMarks()
            for completion in point.completions { completion() }
        }
        do {
            let result = try throwingFailedReads { try work(point) }
            point.leaveToOuter()
            return result
        } catch {
            point.restore()
            throw error
        }
    }
}
