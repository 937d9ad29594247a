import Foundation

// Tracking: which objects have changed since the last save and in the current event.

extension NSManagedObject {
    /// Whether the context has been informed of a change in this event.
    @inline(__always)
    final var hasRecordedChange: Bool { state.isSuperset(of: .recordedChange) }

    /// Called before any change of the object's values or relationships. Informs the context of the first change in an
    /// event.
    @inline(__always)
    final func recordChange() {
        if hasRecordedChange { return }
        unmanagedContext?._withUnsafeGuaranteedRef { $0.recordChange(of: self) }
    }
}

extension NSManagedObjectContext {
    // MARK: - Recording

    /// Called before any change of an object's values or relationships.
    final func recordChange(of object: NSManagedObject) {
        checkQueue()
        // An inaccessible object has no row to write a change to.
        guard object.isRead, !object.state.contains(.inaccessible) else { return }
        restorePoint?.keep(object)
        noteChange(of: object)
        if !object.state.contains(.changedInEvent) {
            object.state.insert(.changedInEvent)
            object.eventStart = object.values.map { .values($0) } ?? .unchanged
            noteInEvent(object)
            undoRecorder.willChange(object, in: self)
        }
    }

    /// Adds an object to those that have changed in the event. On the main queue the first one schedules the end of the
    /// event: Core Data ends it with the turn of the run loop, which executes the blocks of the main queue.
    private func noteInEvent(_ object: NSManagedObject) {
        changedInEvent.append(object)
        guard changedInEvent.count == 1, queue.type == .mainQueueConcurrencyType, blockDepth == 0,
            queue.isCurrent, !queue.hasScheduledEndOfEvent.exchange(true, ordering: .relaxed)
        else { return }
        queue.async { [weak self] in
            guard let self else { return }
            queue.hasScheduledEndOfEvent.store(false, ordering: .relaxed)
            if !changedInEvent.isEmpty, !isProcessing, !isSaving { endEvent() }
        }
    }

    /// Marks an object as changed outside of any event: the changes of a merge cannot be undone.
    final func noteChange(of object: NSManagedObject) {
        guard !object.state.contains(.updated) else { return }
        object.state.insert(.updated)
        if !object.state.contains(.inserted) { updatedCount += 1 }
        list(object)
    }

    /// Registers a new object with a temporary key and its initial values.
    final func insertNew(_ object: NSManagedObject) {
        checkQueue()
        guard object.context == nil || object.context === self else {
            preconditionFailure("An object that belongs to a context cannot be inserted into another one.")
        }
        guard !object.state.contains(.inserted) else { return }
        if object.key.number == 0 { object.key = .temporary(entity: object.layout.index) }
        restorePoint?.keepNew(object)
        object.context = self
        object.state.formUnion(.insertion)
        if object.state.contains(.gone) {
            removeUnlisted()
            object.state.remove(.gone)
        }
        if object.values == nil { object.values = .complete(object.layout.initialValues) }
        registry.register(object, as: object.key)
        insertedCount += 1
        list(object)
        if !object.state.contains(.changedInEvent) {
            object.state.insert(.changedInEvent)
            object.eventStart = object.values.map { .values($0) }
            noteInEvent(object)
            undoRecorder.willChange(object, in: self)
        }
        object.awakeFromInsert()
    }

    /// True when there is something to save.
    final var hasUnsavedChanges: Bool {
        checkQueue()
        noticeInPlaceChanges()
        return insertedCount + updatedCount + deletedCount > 0
    }

    // MARK: - The end of an event

    /// Applies delete rules, posts the change notification, and ends the event for undo.
    final func endEvent() {
        checkQueue()
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        noticeInPlaceChanges()
        if propagatesDeletesAtEndOfEvent || isSaving { propagateDeletions() }
        guard !changedInEvent.isEmpty else { return }
        let objects = changedInEvent
        changedInEvent = []
        undoRecorder.endEvent(in: self)
        var event = ObjectChanges()
        for object in objects {
            event.note(object)
            object.state.subtract(.inEvent)
            object.eventStart = nil
        }
        let userInfo = event.userInfo()
        if isSaving { eventInSave = (event, userInfo) }
        post(.NSManagedObjectContextObjectsDidChange, userInfo)
    }

    /// Discards all unsaved changes and unregisters all objects. Does not check the queue, because a context whose
    /// parent or coordinator is set need not be in use on its queue yet.
    final func removeAllObjects() {
        let objects = registry.takeAll()
        var maker = ObjectIDMaker(rootCoordinator)
        let ids = objects.map { $0.objectID(by: &maker) }
        for object in objects { detach(object) }
        inPlaceValues.removeAll()
        clearChanges()
        unmergedChanges = UnmergedChanges()
        savedInBlock = []
        recentCollections.removeAll()
        aliases = [:]
        rowsAhead.removeAll()
        for rows in incrementalStores { rows.unregisterAll() }
        epoch += 1
        undoManager?.removeAllActions(withTarget: self)
        advanceGeneration()
        guard !objects.isEmpty else { return }
        post(.NSManagedObjectContextObjectsDidChange, [NSInvalidatedAllObjectsKey: ids])
    }

    /// Clears the lists of changes, without changing the objects.
    final func clearChanges() {
        removeAllChanged()
        changedInEvent = []
        pendingDeletions = []
        mergedDeletions = []
        primitiveEdits.removeAll()
        undoRecorder.discardEvent()
        insertedCount = 0
        updatedCount = 0
        deletedCount = 0
    }

    private func detach(_ object: NSManagedObject) {
        object.context = nil
        object.page = nil
        object.values = nil
        object.committed = nil
        object.toMany = []
        object.eventStart = nil
        object.state = [.gone]
    }

    /// Removes inserted objects, and gives the others their committed values. The notification of changed objects contains
    /// the former as deleted, the latter as refreshed.
    final func discardChanges() {
        checkQueue()
        noticeInPlaceChanges()
        let objects = changed
        pendingDeletions = []
        var event = ObjectChanges()
        for object in objects {
            restorePoint?.keep(object)
            if object.state.contains(.watched) { inPlaceValues.remove(object) }
            if object.state.contains(.inserted) {
                event.deleted.append(object)
                // The ID is created while the object still has a context: the notification contains the object, and
                // observers read its ID.
                _ = object.objectID
                registry.remove(object.key)
                object.state = [.gone]
                object.context = nil
            } else {
                event.refreshed.append(object)
                object.values = nil
                object.toMany = []
                object.eventStart = nil
                object.state.subtract(
                    [.updated, .deleted, .listed, .changedInEvent, .deletionPropagated, .relationshipChanged])
                object.awake(fromSnapshotEvents: .rollback)
            }
        }
        clearChanges()
        epoch += 1
        rowsAhead.removeAll()
        undoManager?.removeAllActions(withTarget: self)
        if !event.isEmpty { post(.NSManagedObjectContextObjectsDidChange, event.userInfo()) }
    }
}

/// The objects of a notification, by the kind of change.
struct ObjectChanges {
    var inserted: ContiguousArray<NSManagedObject> = []
    var updated: ContiguousArray<NSManagedObject> = []
    var deleted: ContiguousArray<NSManagedObject> = []
    var refreshed: ContiguousArray<NSManagedObject> = []

    mutating func note(_ object: NSManagedObject) {
        if object.state.contains(.deleted) {
            if !object.state.contains(.insertedInEvent) { deleted.append(object) }
        } else if object.state.contains(.insertedInEvent) {
            inserted.append(object)
        } else {
            updated.append(object)
        }
    }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }

    /// The user info of a notification: a set of objects for each kind.
    ///
    /// - Parameter earlier: Other changes, with their user info: a set of the same objects is reused.
    func userInfo(
        sharing earlier: (changes: ObjectChanges, userInfo: [AnyHashable: Any])? = nil
    ) -> [AnyHashable: Any] {
        var userInfo: [AnyHashable: Any] = [:]
        for (key, path) in [
            (NSInsertedObjectsKey, \ObjectChanges.inserted), (NSUpdatedObjectsKey, \.updated),
            (NSDeletedObjectsKey, \.deleted), (NSRefreshedObjectsKey, \.refreshed),
        ] {
            let objects = self[keyPath: path]
            if objects.isEmpty { continue }
            if let earlier, earlier.changes[keyPath: path].hasSameObjects(as: objects) {
                userInfo[key] = earlier.userInfo[key]
            } else {
                userInfo[key] = objects.roomySet
            }
        }
        return userInfo
    }
}

extension ContiguousArray<NSManagedObject> {
    /// Whether another array contains the identical objects in the same order.
    fileprivate func hasSameObjects(as other: Self) -> Bool {
        guard count == other.count else { return false }
        // Compared as bytes, so that no reference is counted.
        return withUnsafeBytes { own in
            other.withUnsafeBytes { other in
                guard let first = own.baseAddress, let second = other.baseAddress else { return true }
                return memcmp(first, second, own.count) == 0
            }
        }
    }
}

extension Set {
    /// An empty set with spare capacity: comparing elements of Foundation's classes is expensive, and a larger table has fewer
    /// collisions.
    static func roomy(count: Int) -> Set { Set(minimumCapacity: count * 2) }
}

extension Collection where Element: Hashable {
    /// The elements as a set with spare capacity.
    var roomySet: Set<Element> {
        var set = Set<Element>.roomy(count: count)
        for element in self { set.insert(element) }
        return set
    }
}
