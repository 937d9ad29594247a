import Foundation

/// A growing buffer whose address is stable while nothing is added.
final class ByteScratch {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 256) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    func removeAll() { count = 0 }

    /// Keeps the first bytes only.
    func truncate(to count: Int) { self.count = count }

    func string(from start: Int, to end: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: base + start, count: end - start), as: UTF8.self)
    }

    func append(_ byte: UInt8) {
        if count == capacity { grow(by: 1) }
        base[count] = byte
        count += 1
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        if capacity - count < bytes.count { grow(by: bytes.count) }
        memcpy(base + count, start, bytes.count)
        count += bytes.count
    }

    private func grow(by needed: Int) {
        let newCapacity = max(capacity * 2, count + needed)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        memcpy(larger, base, count)
        base.deallocate()
        base = larger
        capacity = newCapacity
    }
}
