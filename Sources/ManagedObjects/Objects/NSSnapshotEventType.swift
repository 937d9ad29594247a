/// The reason why an object's values have changed other than by a setter: see
/// ``NSManagedObject/awake(fromSnapshotEvents:)``.
public struct NSSnapshotEventType: OptionSet, @unchecked Sendable {  // because it is a number
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// An insertion was undone.
    public static var undoInsertion: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 1) }
    /// A deletion was undone.
    public static var undoDeletion: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 2) }
    /// A change was undone.
    public static var undoUpdate: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 3) }
    /// The context was rolled back.
    public static var rollback: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 4) }
    /// The object was refreshed.
    public static var refresh: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 5) }
    /// A merge policy has resolved a conflict.
    public static var mergePolicy: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 6) }
}
