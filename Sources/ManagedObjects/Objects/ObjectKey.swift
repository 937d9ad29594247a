import Synchronization

/// Identifies an object within a coordinator: its store, entity and row.
///
/// A key is sixteen plain bytes. Objects refer to each other by keys and never by pointers, so that a graph of a
/// million objects can be deallocated without recursion, and an unchanged row needs no object.
struct ObjectKey: Sendable {
    /// The store's number in its coordinator, starting at 1; 0 as long as the object belongs to no store.
    var store: UInt16
    /// The index of the object's own (leaf) entity in the model, see `NSEntityDescription.index`.
    var entity: UInt16
    /// The primary key if positive, a temporary number unique in the process if negative.
    var number: Int64

    @inline(__always)
    init(store: UInt16, entity: UInt16, number: Int64) {
        self.store = store
        self.entity = entity
        self.number = number
    }

    /// True until the object is saved, or its permanent ID has been obtained.
    var isTemporary: Bool { number < 0 }

    /// A new temporary key for an object of the entity.
    static func temporary(entity: Int) -> ObjectKey {
        ObjectKey(
            store: 0, entity: UInt16(truncatingIfNeeded: entity),
            number: temporaryCounter.subtract(1, ordering: .relaxed).newValue)
    }

    private static let temporaryCounter = Atomic<Int64>(0)
}

extension ObjectKey: Hashable {
    @inline(__always)
    static func == (one: ObjectKey, other: ObjectKey) -> Bool {
        one.number == other.number && one.entity == other.entity && one.store == other.store
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        hasher.combine(entity)
    }
}
