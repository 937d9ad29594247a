import Synchronization

/// Names one object inside one coordinator: which store, which entity, which row.
///
/// A key is sixteen plain bytes. Objects refer to each other by keys and never by pointers, so that a graph of a million
/// objects can be let go one by one, and so that an unchanged row needs no object at all.
struct ObjectKey: Sendable {
    /// The store's number in its coordinator, from 1; 0 as long as the object belongs to no store.
    var store: UInt16
    /// The position of the object's own (leaf) entity in the model, see `NSEntityDescription.index`.
    var entity: UInt16
    /// The primary key where positive, a number that is unique in the process where negative (a temporary key).
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
