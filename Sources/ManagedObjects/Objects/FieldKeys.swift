/// The fields of an entity by their keys.
///
/// A key of up to 15 bytes of UTF-8, as most names are, is part of its `String`. Such a key is found by these bits, for a
/// tenth of the cost of hashing its characters. All other keys are found in a dictionary.
struct FieldKeys {
    private typealias Bits = (UInt64, UInt64)

    let fields: [String: EntityLayout.Field]
    /// A hash table with linear probing, at most half full. Its size is a power of two.
    private let table: ContiguousArray<(bits: Bits, field: EntityLayout.Field)?>
    private let mask: Int

    init(_ fields: [String: EntityLayout.Field]) {
        self.fields = fields
        var size = 4
        while size < 2 * fields.count { size *= 2 }
        mask = size - 1
        var table = ContiguousArray<(bits: Bits, field: EntityLayout.Field)?>(repeating: nil, count: size)
        for (key, field) in fields where key.utf8.count <= 15 {
            let bits = Self.bits(of: key)
            var index = Self.hash(bits) & mask
            while table[index] != nil { index = (index + 1) & mask }
            table[index] = (bits, field)
        }
        self.table = table
    }

    /// The field of a key; nil if there is no field with the key.
    @inline(__always)
    subscript(key: String) -> EntityLayout.Field? {
        let bits = Self.bits(of: key)
        var index = Self.hash(bits) & mask
        while let entry = table[index] {
            if entry.bits == bits { return entry.field }
            index = (index + 1) & mask
        }
        return fields[key]
    }

    /// The memory of a string. Strings with the same memory are equal; equal strings of more than 15 bytes may differ.
    @inline(__always)
    private static func bits(of key: String) -> Bits { unsafeBitCast(key, to: Bits.self) }

    @inline(__always)
    private static func hash(_ bits: Bits) -> Int {
        let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: ((bits.0 ^ (bits.1 &* factor)) &* factor) >> 40)
    }
}
