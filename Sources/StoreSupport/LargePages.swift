import Foundation

/// Memory in the system's large pages: on Linux `madvise` with `MADV_HUGEPAGE`.
///
/// The first access to each 4 KB page of new memory costs a page fault, some two microseconds on a virtual machine: a third of the
/// time in which a hundred thousand objects are fetched. A large page of 2 MB is one page fault. Where the system has none, the
/// memory is the same as any other.
package enum LargePages {
    /// The size and the alignment of a large page on the processors that Swift supports on Linux.
    package static let size = 2 << 20

    /// Asks for large pages for the part of new memory that consists of whole ones.
    package static func advise(_ memory: UnsafeRawBufferPointer) {
        #if os(Linux)
            guard memory.count >= size, let start = memory.baseAddress else { return }
            let first = UnsafeRawPointer(bitPattern: (UInt(bitPattern: start) + UInt(size - 1)) & ~UInt(size - 1))
            let end = UnsafeRawPointer(bitPattern: UInt(bitPattern: start + memory.count) & ~UInt(size - 1))
            guard let first, let end, first < end else { return }
            // A system without large pages reports an error, which changes nothing.
            _ = madvise(UnsafeMutableRawPointer(mutating: first), end - first, MADV_HUGEPAGE)
        #endif
    }

    /// Asks for large pages for the memory that `malloc` will return next, for objects and for pages of SQLite's cache, which are
    /// allocated one by one. No memory is used before it is returned. Cost: five calls of the system, for two large pages or more.
    ///
    /// The memory is allocated as one block and freed. The GNU library maps such a block by itself the first time, and returns
    /// blocks of that size from its heap after one has been freed; the freed memory stays a part of the heap.
    package static func reserveHeap(byteCount: Int) {
        #if os(Linux)
            guard byteCount >= 2 * size else { return }
            let count = min(byteCount, mostReserved)
            for count in [count, count - size] {
                guard let block = malloc(count) else { return }
                advise(UnsafeRawBufferPointer(start: block, count: count))
                free(block)
            }
        #endif
    }

    /// The GNU library maps larger blocks than 32 MB by themselves each time.
    private static let mostReserved = 31 << 20
}

/// A large page from which row pages get their memory, one after the other. It is released with the last of them.
package final class RowRegion {
    private let start: UnsafeMutableRawPointer
    private var used = 0

    package init() {
        start = .allocate(byteCount: LargePages.size, alignment: LargePages.size)
        LargePages.advise(UnsafeRawBufferPointer(start: start, count: LargePages.size))
    }

    deinit { start.deallocate() }

    /// Memory aligned to sixteen bytes; nil if the rest of the region is smaller.
    package func allocate(byteCount: Int) -> UnsafeMutableRawPointer? {
        let rounded = (byteCount + 15) & ~15
        guard rounded <= LargePages.size - used else { return nil }
        defer { used += rounded }
        return start + used
    }
}
