/// The state of an object: where its values are, what has changed, and what its context notes about it.
///
/// A value is the first of these that exists:
///
/// - unsaved: in `values`, which a new object has for all slots and a changed one for those that were set;
/// - saved: in `committed`, what saves have written since the row was read;
/// - read: in the row that `page` and `row` identify; all values of a realised object that has not changed.
///
/// A fault has none of them; `page` and `row` may then identify the row that refers to it, for loading in batches.
///
/// The state changes by the transitions below only. None of them knows a context, which keeps its lists and counts in step:
///
///     insert ─────────────────────┐                     discardChanges (rollback, a merge)
///                                 v                     delete, undelete
///     fault ──adopt, realise──> object ──beginChange──> changed object ──commit──> object
///       ^                         │  │                                        turnIntoFault
///       └──turnIntoFault, ────────┘  └──leave (deleted and saved, reset)
///          withdrawRow (a merge: reread, then the changes are made again)
struct ObjectState {
    private(set) var page: RowPage?
    private(set) var row: Int32 = 0
    /// The cells of the row. Unsafe because each access to a value would otherwise retain the page: they are read only
    /// while `page` is the page of ``adopt(_:row:)``.
    private(set) var cells: UnsafePointer<RowPage.Cell>?
    /// The slot of `page` that refers to this fault; negative if `page` is the page of the object's own row.
    private(set) var originSlot: Int16 = -1
    private(set) var flags: ObjectFlags = []
    private(set) var values: OwnValues?
    private(set) var committed: OwnValues?
    /// The version of the row; 0 before the first save.
    private(set) var version: Int64 = 0
    /// The members of to-many relationships, which change in place.
    var toMany = ToManyStates()
    /// The values before the first change since pending changes were processed; nil when there is no such change.
    private(set) var eventStart: ValuesBeforeEvent?

    /// The values of an object before the current event.
    enum ValuesBeforeEvent {
        /// The object had no values of its own, only those of its row, or its committed values.
        case unchanged
        case values(OwnValues)
    }

    // MARK: - Reading

    /// Whether the values have not been read and have not been set.
    var isWithoutValues: Bool {
        @inline(__always) get { values == nil && !flags.contains(.realised) }
    }

    /// Whether `page` is the page of the object's own row, and contains it.
    var hasOwnRow: Bool { page.map { $0.fetched == nil } == true && originSlot < 0 }

    /// The cell of a slot, if the values are those of the row.
    @inline(__always)
    func cell(_ slot: Int) -> RowPage.Cell? {
        guard flags.contains(.realised), page != nil, let cells else { return nil }
        return cells[slot]
    }

    /// The value of a slot as in the store; nil for an object that is in no store.
    @inline(__always)
    func committedValue(_ slot: Int) -> Value? {
        if let value = committed?[slot] { return value }
        guard let page, flags.contains(.realised) else { return nil }
        return page.value(row: Int(row), slot: slot)
    }

    /// All values as in the store; nil for an object that is in no store.
    func committedValues(initial: ContiguousArray<Value>) -> ContiguousArray<Value>? {
        let read = flags.contains(.realised) ? page : nil
        guard let committed else { return read?.values(row: Int(row)) }
        return committed.complete(over: read?.values(row: Int(row)) ?? initial)
    }

    /// Whether a value is the one in the store.
    func isCommitted(_ value: Value, slot: Int, in layout: EntityLayout) -> Bool {
        if let saved = committed?[slot] { return value.isSame(as: saved) }
        guard let page, flags.contains(.realised) else { return false }
        return page.holds(value, in: page.cell(row: Int(row), slot: slot), slot: layout.slots[slot])
    }

    // MARK: - The row

    /// Adopts the row with the object's values. A fault stays one until it is realised.
    @inline(__always)
    mutating func adopt(_ page: RowPage, row: Int) {
        self.page = page
        self.row = Int32(truncatingIfNeeded: row)
        cells = page.cells(row: row)
        originSlot = -1
        version = page.version(ofRow: row)
    }

    /// Adopts the values of the object in the parent context.
    mutating func adopt(_ values: ContiguousArray<Value>, version: Int64) {
        forgetRow()
        committed = .complete(values)
        self.version = version
    }

    /// Notes the row whose reference the fault was reached by, so that it is read with the destinations of other rows.
    mutating func noteOrigin(_ page: RowPage, row: Int32, slot: Int) {
        self.page = page
        self.row = row
        originSlot = Int16(truncatingIfNeeded: slot)
    }

    /// Becomes a fault whose row is read with its batch.
    mutating func awaitBatch(_ origin: RowPage, position: Int) {
        noteOrigin(origin, row: Int32(truncatingIfNeeded: position), slot: Int(Int16.max))
        committed = nil
        toMany = []
        flags.remove(.realised)
    }

    private mutating func forgetRow() {
        page = nil
        originSlot = -1
    }

    // MARK: - Realising a fault

    /// Ends the fault of an object whose row is known, or was saved by this context.
    mutating func realise() { flags.insert(.realised) }

    /// Ends the fault of an object that is in no store.
    mutating func realise(with values: ContiguousArray<Value>) {
        self.values = .complete(values)
        flags.insert(.realised)
    }

    /// Ends the fault of an object that has lost its context, which has its initial values from now on.
    mutating func realiseWithoutContext() {
        forgetRow()
        flags.insert(.realised)
    }

    /// Becomes an object whose row does not exist: without values, without members, unchangeable.
    mutating func becomeInaccessible(slots: Int, relationships: Int) {
        values = .complete(ContiguousArray(repeating: .null, count: slots))
        toMany = ToManyStates((0..<relationships).map { _ in ToManyState(isLoaded: true) })
        flags.formUnion([.realised, .inaccessible])
    }

    /// Becomes an object whose row is looked for again.
    mutating func becomeAccessible() { flags.subtract([.inaccessible, .realised]) }

    // MARK: - Changing

    /// Becomes a new object of its context.
    mutating func insert(initial: ContiguousArray<Value>) {
        flags.formUnion(.insertion)
        flags.remove(.gone)
        if values == nil { values = .complete(initial) }
    }

    /// Becomes a changed object of the event, with the values that it has now.
    mutating func beginEvent() {
        flags.insert(.changedInEvent)
        eventStart = values.map { .values($0) } ?? .unchanged
        if flags.contains(.relationshipChanged) { toMany.forEachMade { $0.noteEdits() } }
    }

    /// Becomes a changed object of an event in which a child has saved it, or a step is undone, which have no values before.
    mutating func joinEvent() { flags.insert(.changedInEvent) }

    mutating func endEvent() {
        flags.subtract(.inEvent)
        eventStart = nil
        toMany.forEachMade { _ = $0.takeEdits() }
    }

    /// Leaves the event, whose end no longer concerns the object.
    mutating func leaveEvent() { flags.remove(.changedInEvent) }

    mutating func noteUpdate() { flags.insert(.updated) }

    mutating func noteRelationshipChange() { flags.insert(.relationshipChanged) }

    /// Gets values of its own, so that they can be changed.
    mutating func becomeChangeable(_ values: OwnValues) { self.values = values }

    /// Sets the value of a slot.
    ///
    /// - Returns: False, without a change, if the values must be complete first.
    @inline(__always)
    mutating func setValue(_ value: Value, at slot: Int) -> Bool { values?.set(value, at: slot) != false }

    /// Sets the value of a slot, among the values of all slots.
    mutating func setValue(_ value: Value, at slot: Int, completing all: ContiguousArray<Value>) {
        values = .complete(all)
        _ = values?.set(value, at: slot)
    }

    mutating func delete() { flags.insert(.deleted) }

    mutating func undelete() { flags.subtract([.deleted, .deletionPropagated]) }

    /// Notes that the delete rules have been applied.
    mutating func noteDeletionPropagated() { flags.insert(.deletionPropagated) }

    // MARK: - Saving

    /// Notes that a save has written the row.
    mutating func noteWrite() { version += 1 }

    /// Notes the version of the row that a save has inserted.
    mutating func noteFirstVersion() { version = 1 }

    /// Makes the values the committed ones, and ends the event. An object that is saved has no changes.
    @inline(__always)
    mutating func commit(initial: @autoclosure () -> ContiguousArray<Value>) {
        eventStart = nil
        commitValues(initial: initial())
        toMany.forEachMade { $0.commit() }
        flags.subtract([.inserted, .updated, .listed, .changedInEvent, .insertedInEvent, .relationshipChanged])
    }

    private mutating func commitValues(initial: @autoclosure () -> ContiguousArray<Value>) {
        switch values {
        case nil: return
        case .changes(let changes)? where committed != nil:
            for change in changes { setCommitted(change.value, at: change.slot, initial: initial()) }
        case .some:
            // Moved, so that no reference is counted.
            swap(&committed, &values)
            forgetCommittedRow()
        }
        values = nil
        flags.insert(.realised)
    }

    /// Sets a slot of the committed values, which are then complete if they exceed the number of single ones.
    mutating func setCommitted(_ value: Value, at slot: Int, initial: @autoclosure () -> ContiguousArray<Value>) {
        if committed == nil { committed = .noChanges }
        if committed?.set(value, at: slot) == false {
            committed = .complete(committedValues(initial: initial()) ?? initial())
            _ = committed?.set(value, at: slot)
        }
        forgetCommittedRow()
    }

    /// Forgets the row if all values have been written since it was read.
    private mutating func forgetCommittedRow() {
        if case .complete? = committed { forgetRow() }
    }

    // MARK: - Discarding

    /// Becomes a fault without changes.
    mutating func turnIntoFault() {
        withdrawRow()
        eventStart = nil
        flags.subtract([.updated, .changedInEvent, .relationshipChanged])
    }

    /// Forgets the row and all values, which are read again. What has changed stays noted.
    mutating func withdrawRow() {
        forgetRow()
        values = nil
        committed = nil
        toMany = []
        flags.remove(.realised)
    }

    /// Forgets the values of an object that is in no store. It stays inserted.
    mutating func withdrawInitialValues() {
        values = nil
        flags.remove(.realised)
    }

    /// Forgets the members, which are read again.
    mutating func withdrawMembers() { toMany = [] }

    /// Discards what has changed since the last save.
    mutating func discardChanges() {
        values = nil
        toMany = []
        eventStart = nil
        flags.subtract([.inserted, .updated, .deleted, .deletionPropagated, .relationshipChanged])
    }

    /// Discards what has changed since the last save, and leaves the context's lists, which are cleared.
    mutating func rollBack() {
        discardChanges()
        flags.subtract([.listed, .changedInEvent])
    }

    /// Notes that all values and members equal those of the store again.
    mutating func noteReverted() { flags.subtract([.updated, .relationshipChanged]) }

    // MARK: - Rows that were deleted or inserted elsewhere

    /// Becomes a new object with the values of a row that was deleted.
    mutating func reinsert(_ values: ContiguousArray<Value>) {
        self.values = .complete(values)
        forgetRow()
        committed = nil
        flags.formUnion([.inserted, .realised])
    }

    /// Becomes a new object of the event again, after its deletion was saved.
    mutating func reinsert(_ values: ContiguousArray<Value>, toMany: ToManyStates) {
        reinsert(values)
        version = 0
        self.toMany = toMany
        let kept = flags.intersection([.unlisted, .observed])
        flags = kept.union([.inserted, .realised, .insertedInEvent, .changedInEvent])
    }

    /// Becomes a changed object: its row was inserted elsewhere.
    mutating func noteStored() {
        flags.subtract([.inserted, .insertedInEvent])
        flags.formUnion([.updated, .realised])
    }

    // MARK: - Leaving the context

    /// Leaves the context, with the values that it has.
    ///
    /// - Parameter kept: What the object still is.
    mutating func leave(keeping kept: ObjectFlags = []) {
        flags = flags.intersection(.observed).union(kept).union(.gone)
    }

    /// Leaves the context without values.
    mutating func leaveWithoutValues() {
        withdrawRow()
        eventStart = nil
        flags = .gone
    }

    // MARK: - Notes of others

    /// Notes something that a list or an index of the context knows of the object; it changes neither values nor what is saved.
    @inline(__always)
    mutating func mark(_ mark: ObjectFlags) { flags.insert(mark) }

    @inline(__always)
    mutating func unmark(_ mark: ObjectFlags) { flags.remove(mark) }
}

/// What has happened to an object, and what its context notes about it.
struct ObjectFlags: OptionSet {
    let rawValue: UInt32
    /// Inserted since the last save.
    static let inserted = ObjectFlags(rawValue: 1)
    /// Changed since it was fetched or saved.
    static let updated = ObjectFlags(rawValue: 2)
    static let deleted = ObjectFlags(rawValue: 4)
    /// What a save writes.
    static let changes: ObjectFlags = [.inserted, .updated, .deleted]

    /// What a save does with the object's row.
    enum Change { case none, insertion, update, deletion }

    var change: Change {
        @inline(__always) get {
            if contains(.deleted) { return contains(.inserted) ? .none : .deletion }
            if contains(.inserted) { return .insertion }
            return contains(.updated) ? .update : .none
        }
    }

    /// What an object has that counts as deleted: see `NSManagedObject.isDeleted`.
    static let removed: ObjectFlags = [.deleted, .inaccessible]
    /// Its values have been read.
    static let realised = ObjectFlags(rawValue: 8)
    /// Listed among its context's changed objects.
    static let listed = ObjectFlags(rawValue: 16)
    /// Changed since pending changes were processed.
    static let changedInEvent = ObjectFlags(rawValue: 32)
    /// What an object has whose context is informed of a change in this event.
    static let recordedChange: ObjectFlags = [.updated, .changedInEvent]
    /// Deleted, and delete rules have been applied.
    static let deletionPropagated = ObjectFlags(rawValue: 64)
    /// Its row was not found.
    static let inaccessible = ObjectFlags(rawValue: 128)
    /// Its deletion has been saved, or its context was reset.
    static let gone = ObjectFlags(rawValue: 256)
    /// Inserted since pending changes were processed.
    static let insertedInEvent = ObjectFlags(rawValue: 512)
    /// What the end of an event removes.
    static let inEvent: ObjectFlags = [.changedInEvent, .insertedInEvent]
    /// What an object gets that is inserted.
    static let insertion: ObjectFlags = [.inserted, .realised, .insertedInEvent]
    /// A to-many relationship has changed: the version is incremented although no column may differ.
    static let relationshipChanged = ObjectFlags(rawValue: 1024)
    /// Values that can be changed in place were returned to the program: see `InPlaceValues`.
    static let watched = ObjectFlags(rawValue: 2048)
    /// It has observers: see `ObjectObservations`.
    static let observed = ObjectFlags(rawValue: 4096)
    /// It was looked up a second time: see `ObjectRegistry`.
    static let metAgain = ObjectFlags(rawValue: 8192)
    /// Relationships were set by their primitive values: see `PrimitiveEdits`.
    static let setPrimitively = ObjectFlags(rawValue: 16384)
    /// A change was announced while the row could not be read: the change is not made, because its beginning is not recorded.
    static let announcedUnread = ObjectFlags(rawValue: 262144)
    /// What the end of a change looks at.
    static let primitiveChange: ObjectFlags = [.setPrimitively, .announcedUnread]
    /// A predicate asks for a key that is not a property: `value(forUndefinedKey:)` may not stop the program.
    static let askedForUndefinedKey = ObjectFlags(rawValue: 32768)
    /// Removed from the list of changed objects, in which it stays until others are removed too.
    static let unlisted = ObjectFlags(rawValue: 131072)
    /// Its values are in the index of changed objects: see `PendingIndex`.
    static let indexed = ObjectFlags(rawValue: 65536)
    /// A new object gets the values that it had before it was inserted, which nobody can have seen otherwise.
    static let initialising = ObjectFlags(rawValue: 524288)
}
