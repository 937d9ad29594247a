import Foundation

// Tracking: which objects have changed since the last save and in the current event.

extension NSManagedObject {
    /// Whether the context has been informed of a change in this event.
    @inline(__always)
    final var hasRecordedChange: Bool { flags.isSuperset(of: .recordedChange) }

    /// Called before any change of the object's values or relationships. Informs the context of the first change in an
    /// event.
    @inline(__always)
    final func recordChange() {
        if hasRecordedChange { return }
        unmanagedContext?._withUnsafeGuaranteedRef { $0.recordChange(of: self) }
    }
}

extension NSManagedObjectContext {
    // MARK: - The list of changed objects

    /// Objects with unsaved changes, in the order in which they were first changed. Objects that no longer have changes
    /// stay until the next save.
    package final var changed: ContiguousArray<NSManagedObject> {
        tracker.removeUnlisted()
        return tracker.objects
    }

    /// Objects that have changed in the current event.
    package final var changedInEvent: ContiguousArray<NSManagedObject> { tracker.inEvent }

    /// Makes a transition of an object's state that may change what a save does with it.
    @inline(__always)
    final func change(_ object: NSManagedObject, by transition: (inout ObjectState) -> Void) {
        let before = object.flags.change
        transition(&object.state)
        tracker.count(from: before, to: object.flags.change)
    }

    /// Adds an object to the list of changed objects, unless it is there.
    final func list(_ object: NSManagedObject) {
        guard !object.flags.contains(.listed) else { return }
        restorePoint?.keep(object)
        tracker.list(object)
    }

    /// Removes an object from the list of changed objects.
    final func unlist(_ object: NSManagedObject) {
        guard object.flags.contains(.listed) else { return }
        restorePoint?.keep(object)
        tracker.unlist(object)
    }

    // MARK: - Recording

    /// Called before any change of an object's values or relationships.
    final func recordChange(of object: NSManagedObject) {
        checkQueue()
        // An inaccessible object has no row to write a change to.
        guard object.isRead, !object.flags.contains(.inaccessible) else { return }
        restorePoint?.keep(object)
        noteChange(of: object)
        if !object.flags.contains(.changedInEvent) {
            object.state.beginEvent()
            noteInEvent(object)
            undoRecorder.willChange(object, in: self)
        }
    }

    /// Adds an object to those that have changed in the event. On the main queue the first one schedules the end of the
    /// event: Core Data ends it with the turn of the run loop, which executes the blocks of the main queue.
    private func noteInEvent(_ object: NSManagedObject) {
        tracker.inEvent.append(object)
        guard tracker.inEvent.count == 1, queue.type == .mainQueueConcurrencyType, blockDepth == 0,
            queue.isCurrent, !queue.hasScheduledEndOfEvent.exchange(true, ordering: .relaxed)
        else { return }
        queue.async { [weak self] in
            guard let self else { return }
            queue.hasScheduledEndOfEvent.store(false, ordering: .relaxed)
            if !tracker.inEvent.isEmpty, !isProcessing, !isSaving { endEvent() }
        }
    }

    /// Marks an object as changed outside of any event: the changes of a merge cannot be undone.
    final func noteChange(of object: NSManagedObject) {
        guard !object.flags.contains(.updated) else { return }
        change(object) { $0.noteUpdate() }
        list(object)
    }

    /// Registers a new object with a temporary key and its initial values.
    final func insertNew(_ object: NSManagedObject) {
        checkQueue()
        guard object.context == nil || object.context === self else {
            preconditionFailure("An object that belongs to a context cannot be inserted into another one.")
        }
        guard !object.flags.contains(.inserted) else { return }
        if !registry.contains(object.key.entity) { adoptModel(of: object) }
        if object.key.number == 0 { object.key = .temporary(entity: object.layout.index) }
        restorePoint?.keepNew(object)
        object.context = self
        if object.flags.contains(.gone) { tracker.removeUnlisted() }
        change(object) { $0.insert(initial: object.layout.initialValues) }
        registry.register(object, as: object.key)
        list(object)
        if !object.flags.contains(.changedInEvent) {
            object.state.beginEvent()
            noteInEvent(object)
            undoRecorder.willChange(object, in: self)
        }
        object.awakeFromInsert()
    }

    /// True when there is something to save.
    package final var hasUnsavedChanges: Bool {
        checkQueue()
        noticeInPlaceChanges()
        return !tracker.counts.isZero
    }

    // MARK: - The end of an event

    /// Applies delete rules, posts the change notification, and ends the event for undo.
    ///
    /// - Returns: The objects that have changed in the event.
    @discardableResult
    final func endEvent() -> ContiguousArray<NSManagedObject> {
        checkQueue()
        guard !isProcessing else { return [] }
        isProcessing = true
        defer { isProcessing = false }
        noticeInPlaceChanges()
        if propagatesDeletesAtEndOfEvent || isSaving { propagateDeletions() }
        let objects = tracker.takeEvent()
        guard !objects.isEmpty else { return [] }
        undoRecorder.endEvent(in: self)
        var event = ObjectChanges()
        for object in objects where object.flags.contains(.changedInEvent) {
            event.note(object)
            object.state.endEvent()
        }
        let userInfo = event.userInfo()
        if isSaving { eventInSave = (event, userInfo) }
        post(.NSManagedObjectContextObjectsDidChange, userInfo)
        return objects
    }

    /// Discards all unsaved changes and unregisters all objects. Does not check the queue, because a context whose
    /// parent or coordinator is set need not be in use on its queue yet.
    final func removeAllObjects() {
        let objects = registry.takeAll()
        var maker = ObjectIDMaker(rootCoordinator)
        let ids = objects.map { $0.objectID(by: &maker) }
        for object in objects {
            object.context = nil
            object.state.leaveWithoutValues()
        }
        inPlaceValues.removeAll()
        clearChanges()
        unmergedChanges = UnmergedChanges()
        savedInBlock = []
        recentCollections.removeAll()
        aliases = [:]
        prefetchedRows.removeAll()
        for rows in incrementalStores { rows.unregisterAll() }
        epoch += 1
        undoManager?.removeAllActions(withTarget: self)
        advanceGeneration()
        guard !objects.isEmpty else { return }
        post(.NSManagedObjectContextObjectsDidChange, [NSInvalidatedAllObjectsKey: ids])
    }

    /// Clears the lists of changes, without changing the objects.
    final func clearChanges() {
        tracker.removeAll()
        mergedDeletions = []
        primitiveEdits.removeAll()
        undoRecorder.discardEvent()
    }

    /// Removes inserted objects, and gives the others their committed values. The notification of changed objects contains
    /// the former as deleted, the latter as refreshed.
    final func discardChanges() {
        checkQueue()
        noticeInPlaceChanges()
        let objects = changed
        tracker.deletionsInEvent = []
        var event = ObjectChanges()
        for object in objects {
            restorePoint?.keep(object)
            if object.flags.contains(.watched) { inPlaceValues.remove(object) }
            if object.flags.contains(.inserted) {
                event.deleted.append(object)
                // The ID is created while the object still has a context: the notification contains the object, and
                // observers read its ID.
                _ = object.objectID
                registry.remove(object.key)
                object.state.leave()
                object.context = nil
            } else {
                event.refreshed.append(object)
                object.state.rollBack()
                object.awake(fromSnapshotEvents: .rollback)
            }
        }
        clearChanges()
        epoch += 1
        prefetchedRows.removeAll()
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
        if object.flags.contains(.deleted) {
            deleted.append(object)
        } else if object.flags.contains(.insertedInEvent) {
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
    package var roomySet: Set<Element> {
        var set = Set<Element>.roomy(count: count)
        for element in self { set.insert(element) }
        return set
    }
}

// MARK: - Deleting

// Deletion: objects are marked immediately, delete rules applied at the end of the event or by the next save, and rows
// deleted by the next save.

extension NSManagedObjectContext {
    /// Marks an object of this context for deletion, unless it is marked.
    final func deleteObject(_ object: NSManagedObject) {
        checkQueue()
        guard isContext(of: object, "deleted"), !object.flags.contains(.deleted) else { return }
        markDeleted(object)
    }

    /// Whether an object belongs to this context. One of an unrelated context is a programmer error; one that has left its context is
    /// not.
    final func isContext(of object: NSManagedObject, _ verb: String) -> Bool {
        guard let other = object.context, other !== self else { return object.context != nil }
        let ancestors = sequence(first: self) { $0.parentContext }
        precondition(
            ancestors.contains { $0 === other },
            "\(object.objectID) belongs to another context, and cannot be \(verb) by this one.")
        return false
    }

    private func markDeleted(_ object: NSManagedObject) {
        guard object.isRead else { return }
        object.prepareForDeletion()
        recordChange(of: object)
        // An inaccessible object has no row to delete.
        guard !object.flags.contains(.inaccessible) else { return }
        change(object) { $0.delete() }
        tracker.deletionsInEvent.append(object)
    }

    final func undelete(_ object: NSManagedObject) {
        restorePoint?.keep(object)
        change(object) { $0.undelete() }
    }

    /// Applies delete rules to all marked objects, and to those marked in the process. Uses a work list, so that a
    /// chain of any length can be deleted.
    ///
    /// Everything that the rules need is read first: if the store cannot be read, no rule is applied yet, and the next call
    /// tries again.
    final func propagateDeletions() {
        guard !tracker.deletionsInEvent.isEmpty else { return }
        do {
            try throwingFailedReads {
                readForDeleteRules(of: tracker.deletionsInEvent.lazy.filter { $0.flags.contains(.deleted) })
            }
        } catch {
            return noteFailedRead(
                error, "could not apply the delete rules of \(tracker.deletionsInEvent.count) objects yet")
        }
        while !tracker.deletionsInEvent.isEmpty {
            let objects = tracker.deletionsInEvent
            tracker.deletionsInEvent = []
            for object in objects where object.flags.contains(.deleted) && !object.flags.contains(.deletionPropagated) {
                object.state.noteDeletionPropagated()
                applyDeleteRules(of: object)
            }
        }
    }

    /// Reads the objects that the delete rules of objects change, and those of the objects that they cascade to.
    final func readForDeleteRules(of objects: some Sequence<NSManagedObject>) {
        var waiting = objects.filter { !$0.flags.contains(.deletionPropagated) }
        var seen = Set(waiting.map(ObjectIdentifier.init))
        func read(_ members: some Sequence<NSManagedObject>, _ rule: NSDeleteRule) {
            guard rule == .cascadeDeleteRule || rule == .nullifyDeleteRule else { return }
            for member in members {
                guard member.isRead, rule == .cascadeDeleteRule, !member.flags.contains(.deleted),
                    seen.insert(ObjectIdentifier(member)).inserted
                else { continue }
                waiting.append(member)
            }
        }
        var (position, endOfWave) = (0, 0)
        while position < waiting.count {
            if position == endOfWave {
                endOfWave = waiting.count
                loadMembersTogether(of: waiting, from: position)
            }
            let object = waiting[position]
            position += 1
            for (index, field) in object.layout.toMany.enumerated() {
                object.withMembers(at: index) { read($0, field.relationship.deleteRule) }
            }
            for (slot, description) in object.layout.slots.enumerated() where description.kind == .toOne {
                guard let relationship = description.property as? NSRelationshipDescription,
                    let target = object.relatedObject(slot: slot)
                else { continue }
                read([target], description.isHidden ? .nullifyDeleteRule : relationship.deleteRule)
            }
        }
    }

    private func applyDeleteRules(of object: NSManagedObject) {
        for (index, field) in object.layout.toMany.enumerated() {
            applyRule(field.relationship.deleteRule, members: object.members(at: index)) { members in
                for member in members { object.removeMember(member, at: index) }
            }
        }
        for (slot, description) in object.layout.slots.enumerated() where description.kind == .toOne {
            guard let relationship = description.property as? NSRelationshipDescription,
                let target = object.relatedObject(slot: slot)
            else { continue }
            if description.isHidden {
                // The owner of a one-way to-many loses a member, whatever its own delete rule is.
                object.setReference(slot: slot, to: nil)
                continue
            }
            applyRule(relationship.deleteRule, members: [target]) { _ in object.setReference(slot: slot, to: nil) }
        }
    }

    private func applyRule(
        _ rule: NSDeleteRule, members: [NSManagedObject], disconnect: ([NSManagedObject]) -> Void
    ) {
        switch rule {
        case .cascadeDeleteRule:
            for member in members where !member.flags.contains(.deleted) { markDeleted(member) }
            disconnect(members)
        case .nullifyDeleteRule:
            disconnect(members)
        default:
            // "No action" leaves the other side unchanged; "deny" is checked by the validation before the save.
            break
        }
    }
}
