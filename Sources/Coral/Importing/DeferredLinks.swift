/// The deferred relationships of a record, as a set of their positions in it. All positions from 63 on share one bit.
struct DeferredLinks {
    private var bits: UInt64 = 0

    mutating func insert(_ position: Int) { bits |= 1 << UInt64(min(position, 63)) }

    mutating func formUnion(_ other: DeferredLinks) { bits |= other.bits }

    func contains(_ position: Int) -> Bool { bits >> UInt64(min(position, 63)) & 1 == 1 }
}
