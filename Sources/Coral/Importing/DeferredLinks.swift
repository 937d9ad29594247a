/// The deferred relationships of a record, by their positions in it. The last position stands for all after it too.
struct DeferredLinks {
    private var bits: UInt64 = 0

    mutating func insert(_ position: Int) { bits |= 1 << UInt64(min(position, 63)) }

    mutating func formUnion(_ other: DeferredLinks) { bits |= other.bits }

    func contains(_ position: Int) -> Bool { bits >> UInt64(min(position, 63)) & 1 == 1 }
}
