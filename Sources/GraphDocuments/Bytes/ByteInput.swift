import Foundation

/// A forward-moving window on a source's bytes: the token being read is kept, bytes before it are discarded.
///
/// The byte after the last one in the window is always 0, so that a scan that stops at 0 needs no bounds check.
final class ByteInput {
    /// Accessed by pointer because every byte read uses it, and a pointer's target is exempt from the exclusivity
    /// checks of a class's properties.
    let window: UnsafeMutablePointer<Window>
    private let source: any ByteSource
    private let sizeLimit: Int

    struct Window {
        var base: UnsafeMutablePointer<UInt8>
        var capacity: Int
        /// The next byte to read, relative to `base`.
        var position = 0
        /// The end of the bytes read from the source, relative to `base`.
        var end = 0
        /// The offset of `base` in the document.
        var offset = 0
        /// Whether the source has no more bytes.
        var isLast = false
    }

    init(_ source: any ByteSource, limits: DocumentLimits, capacity: Int = 256 * 1024) {
        self.source = source
        sizeLimit = limits.documentSize
        let base = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + ByteInput.padding)
        base.initialize(repeating: 0, count: ByteInput.padding)
        window = .allocate(capacity: 1)
        window.initialize(to: Window(base: base, capacity: capacity))
    }

    deinit {
        window.pointee.base.deallocate()
        window.deallocate()
    }

    /// The number of zeros after the window, the size of the widest load.
    static let padding = 16

    /// The size of the document, if it is known.
    var byteCount: Int? { source.byteCount }

    /// The offset of the next byte in the document.
    var offset: Int { window.pointee.offset + window.pointee.position }

    /// Reads more bytes after `end`, keeping everything from `start` on. Returns the distance by which the window's
    /// bytes were moved back, or nil when there are no more bytes.
    func refill(keepingFrom start: Int) throws -> Int? {
        guard !window.pointee.isLast else { return nil }
        let kept = window.pointee.end - start
        if start > 0 {
            memmove(window.pointee.base, window.pointee.base + start, kept)
        }
        window.pointee.offset += start
        window.pointee.position -= start
        window.pointee.end = kept
        if window.pointee.capacity - kept < window.pointee.capacity / 2 { grow() }
        let room = UnsafeMutableRawBufferPointer(
            start: window.pointee.base + kept, count: window.pointee.capacity - kept)
        let count = try source.read(into: room)
        window.pointee.end += count
        (window.pointee.base + window.pointee.end).initialize(repeating: 0, count: ByteInput.padding)
        if window.pointee.offset + window.pointee.end > sizeLimit {
            throw DocumentError(
                .limit, "The document is larger than \(sizeLimit) bytes.", at: DocumentPlace(offset: sizeLimit))
        }
        if count == 0 { window.pointee.isLast = true }
        return start
    }

    private func grow() {
        let capacity = window.pointee.capacity * 2
        let base = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + ByteInput.padding)
        memcpy(base, window.pointee.base, window.pointee.end)
        window.pointee.base.deallocate()
        window.pointee.base = base
        window.pointee.capacity = capacity
    }
}
