import Synchronization

/// Identifies an object within a coordinator: its store, entity and row.
///
/// A key is sixteen plain bytes. Objects refer to each other by keys and never by pointers, so that a graph of a
/// million objects can be deallocated without recursion, and an unchanged row needs no object.
package struct ObjectKey: Sendable {
    /// The store's number in its coordinator, starting at 1; 0 as long as the object belongs to no store.
    package var store: UInt16
    /// The index of the object's own (leaf) entity in the model, see `NSEntityDescription.index`.
    package var entity: UInt16
    /// The primary key if positive, a temporary number unique in the process if negative.
    package var number: Int64

    // Inlined into other modules, because keys are made for each row.
    @inlinable @inline(__always)
    package init(store: UInt16, entity: UInt16, number: Int64) {
        self.store = store
        self.entity = entity
        self.number = number
    }

    /// True until the object is saved, or its permanent ID has been obtained.
    package var isTemporary: Bool { number < 0 }

    /// A new temporary key for an object of the entity.
    static func temporary(entity: Int) -> ObjectKey {
        ObjectKey(
            store: 0, entity: UInt16(truncatingIfNeeded: entity),
            number: temporaryCounter.subtract(1, ordering: .relaxed).newValue)
    }

    private static let temporaryCounter = Atomic<Int64>(0)
}

extension ObjectKey: Hashable {
    @inlinable @inline(__always)
    package static func == (one: ObjectKey, other: ObjectKey) -> Bool {
        one.number == other.number && one.entity == other.entity && one.store == other.store
    }

    @inlinable
    package func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        hasher.combine(entity)
    }
}

/// The hash function for keys in tables with open addressing. It spreads consecutive primary keys, and has no random
/// seed, so that the order of a table is deterministic.
enum KeyHash {
    @inline(__always)
    static func home(_ number: Int64, _ mask: Int) -> Int { spread(UInt64(bitPattern: number)) & mask }

    @inline(__always)
    static func spread(_ bits: UInt64) -> Int { Int(truncatingIfNeeded: (bits &* 0x9E37_79B9_7F4A_7C15) >> 20) }
}

extension ObjectKey {
    /// A hash with well distributed low bits.
    @inline(__always)
    var spread: Int { KeyHash.spread(UInt64(bitPattern: number) ^ (UInt64(entity) << 48)) }
}
