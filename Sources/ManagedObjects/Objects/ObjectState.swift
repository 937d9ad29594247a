/// Flags of an object's life cycle; computed properties combine them.
struct ObjectState: OptionSet {
    let rawValue: UInt32
    /// Inserted since the last save.
    static let inserted = ObjectState(rawValue: 1)
    /// Changed since it was fetched or saved.
    static let updated = ObjectState(rawValue: 2)
    static let deleted = ObjectState(rawValue: 4)
    /// What a save writes.
    static let changes: ObjectState = [.inserted, .updated, .deleted]
    /// What an object has that counts as deleted: see `NSManagedObject.isDeleted`.
    static let removed: ObjectState = [.deleted, .inaccessible]
    /// Its values have been read.
    static let realised = ObjectState(rawValue: 8)
    /// Listed among its context's changed objects.
    static let listed = ObjectState(rawValue: 16)
    /// Changed since pending changes were processed.
    static let changedInEvent = ObjectState(rawValue: 32)
    /// What an object has whose context is informed of a change in this event.
    static let recordedChange: ObjectState = [.updated, .changedInEvent]
    /// Deleted, and delete rules have been applied.
    static let deletionPropagated = ObjectState(rawValue: 64)
    /// Its row was not found.
    static let inaccessible = ObjectState(rawValue: 128)
    /// Its deletion has been saved, or its context was reset.
    static let gone = ObjectState(rawValue: 256)
    /// Inserted since pending changes were processed.
    static let insertedInEvent = ObjectState(rawValue: 512)
    /// What the end of an event removes.
    static let inEvent: ObjectState = [.changedInEvent, .insertedInEvent]
    /// What an object gets that is inserted.
    static let insertion: ObjectState = [.inserted, .realised, .insertedInEvent]
    /// A to-many relationship has changed: the version is incremented although no column may differ.
    static let relationshipChanged = ObjectState(rawValue: 1024)
    /// Values that can be changed in place were returned to the program: see `InPlaceValues`.
    static let watched = ObjectState(rawValue: 2048)
    /// It has observers: see `ObjectObservations`.
    static let observed = ObjectState(rawValue: 4096)
    /// It was looked up a second time: see `ObjectRegistry`.
    static let metAgain = ObjectState(rawValue: 8192)
    /// Relationships were set by their primitive values: see `PrimitiveEdits`.
    static let setPrimitively = ObjectState(rawValue: 16384)
    /// A predicate asks for a key that is not a property: `value(forUndefinedKey:)` may not stop the program.
    static let askedForUndefinedKey = ObjectState(rawValue: 32768)
    /// Removed from the list of changed objects, in which it stays until others are removed too.
    static let unlisted = ObjectState(rawValue: 131072)
    /// Its values are in the index of changed objects: see `PendingIndex`.
    static let indexed = ObjectState(rawValue: 65536)
}
