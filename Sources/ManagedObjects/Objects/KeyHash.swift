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
