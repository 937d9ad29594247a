/// Where keys have their places in tables of open addressing. Spread, because primary keys follow each other, and without a
/// seed, because a table's order must not depend on one.
enum KeyPlace {
    @inline(__always)
    static func home(_ number: Int64, _ mask: Int) -> Int { spread(UInt64(bitPattern: number)) & mask }

    @inline(__always)
    static func spread(_ bits: UInt64) -> Int { Int(truncatingIfNeeded: (bits &* 0x9E37_79B9_7F4A_7C15) >> 20) }
}

extension ObjectKey {
    /// A number whose low bits are well spread.
    @inline(__always)
    var spread: Int { KeyPlace.spread(UInt64(bitPattern: number) ^ (UInt64(entity) << 48)) }
}
