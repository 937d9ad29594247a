import Coral
import CoreData
import ManagedObjects

/// A map of keys to rows, shared by the parts of an import: 16 bytes for each key, in 256 hash tables that grow
/// separately, so that growing copies only one of them. A table is filled to four fifths: 16 to 26 bytes for each
/// key. Keys are compared by 72 bits of their digests.
final class IdentityMap {
    /// The row or record that has a key.
    struct Owner {
        fileprivate(set) var bits: UInt64

        /// A row, by its primary key and its entity's index in the model. `isRecord` is true if a record of the
        /// document matches it.
        ///
        /// - Throws: `ObjectsReason` for a key or an entity that does not fit into the bits for it: only stores
        ///   whose keys another program has assigned have such keys.
        init(key: Int64, entity: Int, isRecord: Bool) throws {
            guard key > 0, key <= Owner.keyMask, entity <= Owner.entityMask else {
                throw ObjectsReason(.contents, "A primary key has more than 48 bits.")
            }
            bits = UInt64(bitPattern: key) & Owner.keyMask | UInt64(entity) << 48 | (isRecord ? Owner.record : 0)
        }

        /// A record that is being looked up, by its index in the batch.
        init(waiting row: Int) { bits = UInt64(row + 1) | Owner.waiting }

        fileprivate init(bits: UInt64) { self.bits = bits }

        private static let keyMask: UInt64 = 1 << 48 - 1
        private static let entityMask = 0x3FFF
        private static let record: UInt64 = 1 << 63
        private static let waiting: UInt64 = 1 << 62

        /// The row's primary key; nil while the record is being looked up.
        var key: Int64? { isWaiting ? nil : Int64(bits & Owner.keyMask) }
        var entity: Int { Int(bits >> 48) & Owner.entityMask }
        var isRecord: Bool { bits & Owner.record != 0 }
        var isWaiting: Bool { bits & Owner.waiting != 0 }
        /// The index of the record that is being looked up.
        var row: Int { Int(bits & Owner.keyMask) - 1 }
    }

    private struct Entry {
        var digest: UInt64 = 0
        /// 0 for an empty entry.
        var owner: UInt64 = 0
    }

    private struct Piece {
        var entries: ContiguousArray<Entry>
        var count = 0
    }

    // Dynamic exclusivity checks are disabled, because they would cost more than a search. This is safe: no method calls
    // another method of the map while it modifies `pieces`.
    @exclusivity(unchecked) private var pieces: ContiguousArray<Piece>

    init() {
        let empty = Piece(entries: ContiguousArray(repeating: Entry(), count: 16))
        pieces = ContiguousArray(repeating: empty, count: 256)
    }

    /// The owner of a key; nil if there is none.
    subscript(digest: KeyDigest) -> Owner? {
        let number = Int(digest.high >> 56)
        return pieces[number].entries.withUnsafeBufferPointer { entries in
            let owner = entries[IdentityMap.position(of: digest.low, in: entries)].owner
            return owner == 0 ? nil : Owner(bits: owner)
        }
    }

    /// Sets the owner of a key.
    func set(_ digest: KeyDigest, _ owner: Owner) {
        let number = Int(digest.high >> 56)
        if (pieces[number].count + 1) * 5 > pieces[number].entries.count * 4 { grow(number) }
        let isNew = pieces[number].entries.withUnsafeMutableBufferPointer { entries in
            let position = IdentityMap.position(of: digest.low, in: UnsafeBufferPointer(entries))
            let isNew = entries[position].owner == 0
            entries[position] = Entry(digest: digest.low, owner: owner.bits)
            return isNew
        }
        if isNew { pieces[number].count += 1 }
    }

    private func grow(_ number: Int) {
        let old = pieces[number].entries
        var new = ContiguousArray(repeating: Entry(), count: old.count + max(old.count / 4, 8))
        new.withUnsafeMutableBufferPointer { entries in
            for entry in old where entry.owner != 0 {
                entries[IdentityMap.position(of: entry.digest, in: UnsafeBufferPointer(entries))] = entry
            }
        }
        pieces[number].entries = new
    }

    /// The index of a digest's entry, or of the empty entry where it would be inserted.
    @inline(__always)
    private static func position(of digest: UInt64, in entries: UnsafeBufferPointer<Entry>) -> Int {
        var position = Int(digest.multipliedFullWidth(by: UInt64(entries.count)).high)
        while entries[position].owner != 0, entries[position].digest != digest {
            position += 1
            if position == entries.count { position = 0 }
        }
        return position
    }
}

/// A keyed 128-bit hash of an object's key, with secrets of the process.
///
/// Keys with equal digests are considered equal. An accidental collision is improbable, and a deliberate one
/// requires the secrets.
struct KeyDigest: Hashable {
    var high: UInt64
    var low: UInt64

    private static let secrets: (UInt64, UInt64, UInt64) = (
        .random(in: .min ... .max) | 1, .random(in: .min ... .max) | 1, .random(in: .min ... .max)
    )

    /// The initial digest for one kind of key.
    init(kind: Int) {
        high = KeyDigest.secrets.2
        low = ~KeyDigest.secrets.2
        add(UInt64(kind))
    }

    @inline(__always)
    mutating func add(_ word: UInt64) {
        high = KeyDigest.mix(high ^ word, KeyDigest.secrets.0) &+ word
        low = KeyDigest.mix(low ^ word, KeyDigest.secrets.1) ^ word
    }

    @inline(__always)
    mutating func add(_ integer: Int64) { add(UInt64(bitPattern: integer)) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(UInt64(bytes.count))
        var index = 0
        while index + 8 <= bytes.count {
            add(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        guard index < bytes.count else { return }
        var rest: UInt64 = 0
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index += 1
        }
        add(rest)
    }

    @inline(__always)
    private static func mix(_ value: UInt64, _ factor: UInt64) -> UInt64 {
        let (high, low) = value.multipliedFullWidth(by: factor)
        return high ^ low
    }
}
