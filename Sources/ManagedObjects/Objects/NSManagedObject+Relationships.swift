import Foundation

// Editing relationships: every edit updates both sides. Setters of the public API call the `set…` functions; functions
// named `…Inverse…` update one side only and are called from the other.
//
// An edit reads the objects and members that it changes before it changes any of them: if the store cannot be read, the edit is
// not made.

extension NSManagedObject {
    // MARK: - Members of a to-many

    package final func toManyState(at index: Int) -> ToManyState? {
        toMany.state(at: index)
    }

    /// The state of a to-many relationship, created if necessary; not loaded.
    final func ensureToManyState(at index: Int) -> ToManyState {
        if let state = toMany.state(at: index) { return state }
        // An object that is in no store has no members to load, unless a parent context has it.
        let isNew =
            self.flags.contains(.inserted) || context == nil || (key.isTemporary && context?.parentContext == nil)
        let state = ToManyState(isLoaded: isNew || !layout.toMany[index].isPersistent)
        toMany.setState(state, at: index)
        return state
    }

    /// The state of a to-many relationship with its members loaded: at most two statements, for a batch of owners. It stays
    /// unloaded if the store cannot be read.
    final func loadedToManyState(at index: Int) -> ToManyState {
        let state = ensureToManyState(at: index)
        if !state.isLoaded {
            unmanagedContext?._withUnsafeGuaranteedRef { $0.loadMembers(of: self, at: index, into: state) }
        }
        return state
    }

    package final func memberKeys(at index: Int) -> ContiguousArray<ObjectKey> {
        loadedToManyState(at: index).members.keys
    }

    final func committedMemberKeys(at index: Int) -> ContiguousArray<ObjectKey> {
        let state = loadedToManyState(at: index)
        return state.committed ?? state.members.keys
    }

    final func members(at index: Int) -> [NSManagedObject] {
        unmanagedContext?._withUnsafeGuaranteedRef { context in
            if let run = loadedRun(at: index, in: context) { return context.members(of: run) }
            return context.members(of: loadedToManyState(at: index))
        } ?? []
    }

    /// Calls a closure with the members, without an array in memory of its own if they are few and unchanged.
    final func withMembers(at index: Int, _ body: (UnsafeBufferPointer<NSManagedObject>) -> Void) {
        unmanagedContext?._withUnsafeGuaranteedRef { context in
            if let run = loadedRun(at: index, in: context) { return context.withMembers(of: run, body) }
            context.members(of: loadedToManyState(at: index)).withUnsafeBufferPointer(body)
        }
    }

    final func memberIDs(at index: Int) -> [NSManagedObjectID] {
        unmanagedContext?._withUnsafeGuaranteedRef { context in
            guard let run = loadedRun(at: index, in: context) else {
                return loadedToManyState(at: index).members.keys.map { context.objectID(for: $0) }
            }
            return (0..<run.count).map { context.objectID(for: run.key($0)) }
        } ?? []
    }

    /// The members as part of a batch, while they are unchanged; nil if the relationship has a state of its own, or needs
    /// one.
    final func currentRun(at index: Int) -> MemberBatch.Run? {
        unmanagedContext?._withUnsafeGuaranteedRef { loadedRun(at: index, in: $0) }
    }

    @inline(__always)
    private func loadedRun(at index: Int, in context: NSManagedObjectContext) -> MemberBatch.Run? {
        if let run = toMany.run(at: index) { return run }
        guard toMany.isUnknown(at: index), let run = context.loadedRun(of: self, at: index) else { return nil }
        toMany.setRun(run, at: index)
        return run
    }

    /// Adds an object to a to-many relationship, at a position or at the end.
    ///
    /// - Parameter primitive: Whether the inverse is updated later, by `didChangeValue(forKey:)`; see
    ///   ``PrimitiveEdits``.
    final func addMember(_ member: NSManagedObject, at index: Int, position: Int? = nil, primitive: Bool = false) {
        let field = layout.toMany[index]
        let link = layout.links.toMany[index]
        guard isRead, let state = stateToEdit(at: index, isExact: field.isOrdered, primitive: primitive),
            state.isLoaded && state.contains(member.key) || member.isReadToJoin(self, by: link)
        else { return }
        if primitive {
            notePrimitiveEdit(of: .toMany(index))
            if state.add(adoptedKey(of: member), at: position) { self.state.noteRelationshipChange() }
            return
        }
        changeMembers(of: field.name, addition(of: [member], at: index, position: position)) {
            guard state.add(adoptedKey(of: member), at: position) else { return }
            self.state.noteRelationshipChange()
            member.joinInverse(of: self, by: link)
        }
    }

    final func removeMember(_ member: NSManagedObject, at index: Int, primitive: Bool = false) {
        let field = layout.toMany[index]
        let link = layout.links.toMany[index]
        guard isRead, let before = stateToEdit(at: index, isExact: field.isOrdered, primitive: primitive),
            before.isLoaded && !before.contains(member.key) || member.isReadToLeave(by: link)
        else { return }
        // The members are not loaded if the member's own reference shows that it is one.
        let isExact =
            !before.isLoaded
            && (isUncertain(member.key, in: before, at: index) || !member.refers(to: key, at: link.inverse))
        guard let state = stateToEdit(at: index, isExact: isExact, primitive: primitive) else { return }
        if primitive {
            notePrimitiveEdit(of: .toMany(index))
            if state.remove(member.key, keepsOrder: field.isOrdered) { self.state.noteRelationshipChange() }
            return
        }
        changeMembers(of: field.name, removal(of: [member], at: index)) {
            guard state.remove(member.key, keepsOrder: field.isOrdered) else { return }
            self.state.noteRelationshipChange()
            member.leaveInverse(of: self, by: link)
        }
    }

    /// Moves a member of an ordered relationship to a position among the others.
    final func moveMember(_ member: NSManagedObject, at index: Int, to position: Int) {
        guard isRead else { return }
        let state = loadedToManyState(at: index)
        guard state.isLoaded else { return }
        willChangeValue(forKey: layout.toMany[index].name)
        if state.takePlaces([MemberEdits.Place(key: member.key, position: position)]) {
            self.state.noteRelationshipChange()
        }
        didChangeValue(forKey: layout.toMany[index].name)
    }

    /// Replaces all members by other objects.
    final func setMembers(_ objects: [NSManagedObject], at index: Int, primitive: Bool = false) throws {
        let field = layout.toMany[index]
        for object in objects where !object.layout.isKind(of: field.destination) {
            throw UnacceptableValue(expected: field.destination.name ?? "", actual: object.entity.name ?? "")
        }
        guard isRead else { return }
        let state = loadedToManyState(at: index)
        guard state.isLoaded, isRead(toReplaceMembersOf: state, by: objects, at: index) else { return }
        primitive ? notePrimitiveEdit(of: .toMany(index)) : willChangeValue(forKey: field.name)
        var newKeys = KeyList()
        newKeys.reserveCapacity(objects.count)
        for object in objects {
            let objectKey = adoptedKey(of: object)
            if !newKeys.contains(objectKey) { newKeys.append(objectKey) }
        }
        if state.hasNoMembers, newKeys.count == objects.count {
            // The common case: there were no members, and each new one occurs once.
            setFirstMembers(objects, newKeys, at: index, state: state, primitive: primitive)
        } else {
            changeMembers(objects, newKeys, at: index, state: state, primitive: primitive)
        }
        if !primitive { didChangeValue(forKey: field.name) }
    }

    /// The state of a to-many relationship for an edit; nil if its members are needed and cannot be read.
    private func stateToEdit(at index: Int, isExact: Bool, primitive: Bool) -> ToManyState? {
        if primitive, self.flags.contains(.announcedUnread) { return nil }
        // A primitive edit that was announced records the members before.
        guard isExact || primitive && self.flags.contains(.changedInEvent) else { return ensureToManyState(at: index) }
        let state = loadedToManyState(at: index)
        return state.isLoaded ? state : nil
    }

    /// Whether the members that an assignment adds and removes have been read.
    private func isRead(toReplaceMembersOf state: ToManyState, by objects: [NSManagedObject], at index: Int) -> Bool {
        let link = layout.links.toMany[index]
        guard link.inverse != .none, let context else { return true }
        guard state.count > 0 else { return objects.allSatisfy { $0.isReadToJoin(self, by: link) } }
        guard objects.allSatisfy({ state.contains($0.key) || $0.isReadToJoin(self, by: link) }) else { return false }
        let kept = Set(objects.lazy.map(\.key))
        return state.members.keys.allSatisfy { kept.contains($0) || context.object(for: $0).isRead }
    }

    private func setFirstMembers(
        _ objects: [NSManagedObject], _ keys: KeyList, at index: Int, state: ToManyState, primitive: Bool
    ) {
        guard !objects.isEmpty else { return }
        state.replaceMembers(keys)
        self.state.noteRelationshipChange()
        if primitive { return }
        let link = layout.links.toMany[index]
        for object in objects { object.joinInverse(of: self, by: link) }
    }

    private func changeMembers(
        _ objects: [NSManagedObject], _ keys: KeyList, at index: Int, state: ToManyState, primitive: Bool
    ) {
        let field = layout.toMany[index]
        var newKeys = keys
        var (seen, added): (Set<ObjectKey>, [NSManagedObject]) = ([], [])
        for object in objects where !state.contains(object.key) && seen.insert(object.key).inserted {
            added.append(object)
        }
        let removed = state.members.keys.filter { !newKeys.contains($0) }
        if !(field.isOrdered ? state.members.keys == newKeys.keys : removed.isEmpty && added.isEmpty) {
            // An unordered relationship keeps the old order of the remaining members, so that equal sets stay equal
            // lists.
            if field.isOrdered {
                state.replaceMembers(newKeys)
            } else {
                for removedKey in removed { state.remove(removedKey, keepsOrder: false) }
                for object in added { state.add(object.key) }
            }
            self.state.noteRelationshipChange()
            if !primitive {
                let link = layout.links.toMany[index]
                for removedKey in removed { context?.object(for: removedKey).leaveInverse(of: self, by: link) }
                for object in added { object.joinInverse(of: self, by: link) }
            }
        }
    }

    // MARK: - To-one

    /// Sets a to-one relationship, or the owner of a one-way to-many, and the inverses of the old and the new
    /// destination.
    final func setReference(slot: Int, to object: NSManagedObject?) {
        let link = layout.links.slots[slot]
        guard isRead else { return }
        let before = slotValue(slot).referenceKey
        if before == nil || before != object?.key {
            guard object?.isReadToJoin(self, by: link) != false else { return }
            if let before, context?.object(for: before).isReadToLeave(by: link) == false { return }
        }
        changeOneSide(named: layout.slots[slot].name) {
            let targetKey = object.map(adoptedKey)
            if let before, before != targetKey { context?.object(for: before).leaveInverse(of: self, by: link) }
            setPrimitiveSlot(slot, to: targetKey.map { .reference($0) } ?? .null)
            // If the same object is set again, its inverse is unchanged.
            if let object, before != targetKey { object.joinInverse(of: self, by: link) }
        }
    }

    final func setPrimitiveReference(slot: Int, to object: NSManagedObject?) {
        guard isRead else { return }
        notePrimitiveEdit(of: .slot(slot))
        let target = object.map(adoptedKey)
        setPrimitiveSlot(slot, to: target.map { .reference($0) } ?? .null)
    }

    /// The key of an object that this one will refer to; the context inserts an object that has no context yet.
    @inline(__always)
    private func adoptedKey(of other: NSManagedObject) -> ObjectKey {
        if other.unmanagedContext?.toOpaque() == unmanagedContext?.toOpaque(), other.key.number != 0 {
            return other.key
        }
        return context.map { $0.key(adopting: other) } ?? other.key
    }

    // MARK: - The other side

    /// Whether this object can stop being a destination of another by a relationship.
    @inline(__always)
    private func isReadToLeave(by link: RelationshipLinks.Link) -> Bool { link.inverse == .none || isRead }

    /// Whether this object can become a destination of `other` by a relationship: it and the former owner that loses it have been
    /// read.
    @inline(__always)
    private func isReadToJoin(_ other: NSManagedObject, by link: RelationshipLinks.Link) -> Bool {
        guard isReadToLeave(by: link) else { return false }
        guard case .slot(let slot) = link.inverse, case .reference(let owner) = slotValue(slot), owner != other.key
        else { return true }
        return context?.object(for: owner).isRead != false
    }

    /// Whether this object refers to another at an end of a relationship. Loads the members if necessary. True if
    /// this side stores nothing.
    final func refers(to other: ObjectKey, at end: RelationshipLinks.End) -> Bool {
        switch end {
        case .none: true
        case .slot(let slot): slotValue(slot).referenceKey == other
        case .toMany(let index): loadedToManyState(at: index).contains(other)
        }
    }

    /// Updates the inverse after this object has become a destination of `other` by a relationship.
    final func joinInverse(of other: NSManagedObject, by link: RelationshipLinks.Link) {
        switch link.inverse {
        case .none: break
        case .slot(let slot):
            let before = slotValue(slot)
            if case .reference(let old) = before {
                if old == other.key { return }
                // Only one owner: the former owner loses this object.
                context?.object(for: old).loseDestination(self, by: link)
            }
            changeOneSide(named: layout.slots[slot].name) { setPrimitiveSlot(slot, to: .reference(other.key)) }
        case .toMany(let index):
            let field = layout.toMany[index]
            let state = field.isOrdered ? loadedToManyState(at: index) : ensureToManyState(at: index)
            changeMembers(of: field.name, addition(of: [other], at: index)) { _ = state.add(other.key) }
            self.state.noteRelationshipChange()
        }
    }

    /// Clears the inverse after this object is no longer a destination of `other` by a relationship.
    final func leaveInverse(of other: NSManagedObject, by link: RelationshipLinks.Link) {
        switch link.inverse {
        case .none: break
        case .slot(let slot):
            clearReference(slot, to: other.key)
        case .toMany(let index):
            dropMember(other.key, at: index)
        }
    }

    /// Clears the relationship on this side after `member` has been assigned to another object.
    private func loseDestination(_ member: NSManagedObject, by link: RelationshipLinks.Link) {
        switch link.own {
        case .none: break
        case .slot(let slot):
            clearReference(slot, to: member.key)
        case .toMany(let index):
            dropMember(member.key, at: index)
        }
    }

    private func clearReference(_ slot: Int, to target: ObjectKey) {
        // The two sides differ if this object was read before another context connected the two, so it is read
        // again.
        if slotValue(slot).referenceKey != target { context?.readAgainUnlessChanged(self) }
        if slotValue(slot).referenceKey == target {
            changeOneSide(named: layout.slots[slot].name) { setPrimitiveSlot(slot, to: .null) }
        }
    }

    private func dropMember(_ member: ObjectKey, at index: Int) {
        let field = layout.toMany[index]
        var state = field.isOrdered ? loadedToManyState(at: index) : ensureToManyState(at: index)
        if state.isLoaded, field.isPersistent, !self.flags.contains(.inserted), !state.contains(member) {
            // The same for members: they are loaded again, without this one.
            if field.isOrdered {
                state.reload { _ = loadedToManyState(at: index) }
            } else {
                state.unload()
            }
        }
        if !state.isLoaded, isUncertain(member, in: state, at: index) { state = loadedToManyState(at: index) }
        changeMembers(of: field.name, removal(of: context.map { [$0.object(for: member)] } ?? [], at: index)) {
            _ = state.remove(member, keepsOrder: field.isOrdered)
        }
        self.state.noteRelationshipChange()
    }

    /// Whether a member that was added while the members are not loaded may be in the store too, so that a removal must
    /// remove it there. The reference of a member in a one-to-many relationship shows that it is not.
    private func isUncertain(_ member: ObjectKey, in state: ToManyState, at index: Int) -> Bool {
        guard case .toMany = layout.links.toMany[index].inverse else { return false }
        return state.isAdded(member)
    }

    private func changeOneSide(named name: String?, _ change: () -> Void) {
        guard let name else {
            recordChange()
            return change()
        }
        willChangeValue(forKey: name)
        change()
        didChangeValue(forKey: name)
    }
}
