/// The unsaved state of a context before work that may fail after it has begun to change objects: a merge, a refresh, and the
/// resolution of a save's conflicts, in which code of the program runs.
///
/// An object's state is kept before its first change. Objects that the current event has changed are kept at once, because the
/// context is not informed of their further changes.
final class RestorePoint {
    private struct Kept {
        let object: NSManagedObject
        let content: ObjectContent
        let isRegistered: Bool
    }

    private let context: NSManagedObjectContext
    private let lists: Lists
    private var kept: [ObjectIdentifier: Kept] = [:]
    /// Objects that were created after this point.
    private var new: [NSManagedObject] = []

    /// Cost: a step for each object that the current event has changed.
    init(_ context: NSManagedObjectContext) {
        self.context = context
        lists = Lists(context)
        for object in context.changedInEvent { keep(object) }
    }

    /// Keeps the state of an object that is about to change.
    func keep(_ object: NSManagedObject) {
        let id = ObjectIdentifier(object)
        guard kept[id] == nil else { return }
        kept[id] = Kept(
            object: object, content: ObjectContent(of: object),
            isRegistered: context.registry.object(for: object.key) === object)
    }

    /// Notes an object that is about to be inserted.
    func keepNew(_ object: NSManagedObject) {
        guard kept[ObjectIdentifier(object)] == nil else { return }
        keep(object)
        new.append(object)
    }

    /// Adopts what a point within this one has kept, after its work has succeeded.
    func adopt(_ inner: RestorePoint) {
        kept.merge(inner.kept) { outer, _ in outer }
        new += inner.new
    }

    /// Gives the context and its objects the state that they had. May be called repeatedly.
    func restore() {
        if kept.isEmpty { return }
        for object in new where context.registry.object(for: object.key) === object {
            _ = object.objectID
            context.registry.remove(object.key)
        }
        var listed = Set(context.changed.map(ObjectIdentifier.init))
        for kept in kept.values {
            kept.content.restore(kept.object)
            if kept.object.state.contains(.listed), listed.insert(ObjectIdentifier(kept.object)).inserted {
                context.relist(kept.object)
            }
            guard kept.isRegistered, context.registry.object(for: kept.object.key) !== kept.object else { continue }
            context.registry.register(kept.object, as: kept.object.key)
        }
        context.removeChanged { !$0.state.contains(.listed) }
        lists.restore(context)
        context.removeRowsAhead()
        (kept, new) = ([:], [])
        for object in context.changedInEvent { keep(object) }
    }

    /// What a context knows of changes, apart from its objects.
    private struct Lists {
        let changedInEvent: ContiguousArray<NSManagedObject>
        let counts: (inserted: Int, updated: Int, deleted: Int)
        let pendingDeletions: ContiguousArray<NSManagedObject>
        let mergedDeletions: ContiguousArray<NSManagedObject>
        let primitiveEdits: PrimitiveEdits
        let inPlaceValues: InPlaceValues
        let undoRecorder: UndoRecorder
        let undoSteps: UndoManager.Steps?
        let refreshedBySave: [NSManagedObject]
        let pinnedGenerations: PinnedGenerations?

        init(_ context: NSManagedObjectContext) {
            changedInEvent = context.changedInEvent
            counts = (context.insertedCount, context.updatedCount, context.deletedCount)
            pendingDeletions = context.pendingDeletions
            mergedDeletions = context.mergedDeletions
            primitiveEdits = context.primitiveEdits
            inPlaceValues = context.inPlaceValues
            undoRecorder = context.undoRecorder
            undoSteps = context.undoManager?.steps
            refreshedBySave = context.refreshedBySave
            pinnedGenerations = context.pinnedGenerations
        }

        func restore(_ context: NSManagedObjectContext) {
            context.changedInEvent = changedInEvent
            (context.insertedCount, context.updatedCount, context.deletedCount) = counts
            context.pendingDeletions = pendingDeletions
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

/// The values, relationships and flags of one object.
struct ObjectContent {
    private let page: RowPage?
    private let row: Int32
    private let cells: UnsafePointer<RowPage.Cell>?
    private let originSlot: Int16
    private let state: ObjectState
    private let values: OwnValues?
    private let committed: OwnValues?
    private let version: Int64
    private let toMany: ToManyStates
    private let eventStart: EventStart?
    private let context: NSManagedObjectContext?

    init(of object: NSManagedObject) {
        (page, row, cells, originSlot) = (object.page, object.row, object.cells, object.originSlot)
        (state, version) = (object.state, object.version)
        (values, committed, eventStart) = (object.values, object.committed, object.eventStart)
        toMany = object.toMany.copy()
        context = object.context
    }

    func restore(_ object: NSManagedObject) {
        (object.page, object.row, object.cells, object.originSlot) = (page, row, cells, originSlot)
        (object.state, object.version) = (state, version)
        (object.values, object.committed, object.eventStart) = (values, committed, eventStart)
        object.toMany = toMany.copy()
        object.context = context
    }
}

extension NSManagedObjectContext {
    /// Runs work that reads and changes objects. If it or a read in it fails, the context is as it was before.
    ///
    /// Cost: a step for each object that the current event or the work has changed.
    final func restoringOnError<Result>(_ work: (RestorePoint) throws -> Result) throws -> Result {
        let outer = restorePoint
        let point = RestorePoint(self)
        restorePoint = point
        defer { restorePoint = outer }
        do {
            let result = try throwingFailedReads { try work(point) }
            outer?.adopt(point)
            return result
        } catch {
            point.restore()
            throw error
        }
    }
}
