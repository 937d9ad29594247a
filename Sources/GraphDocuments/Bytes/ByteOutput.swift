import Foundation

/// The destination of written bytes.
public protocol ByteSink: AnyObject {
    /// Writes bytes in order. Throws `DocumentError` if this fails.
    func write(_ bytes: UnsafeRawBufferPointer) throws
    /// Called once after the last byte.
    func finish() throws
}

/// A buffer in front of a sink, which passes bytes on in large pieces.
///
/// Bytes that are not flushed when the output is deallocated are lost: call `finish`.
package final class ByteOutput {
    /// The free part of the buffer. Accessed by pointer because every byte written uses it, and a pointer's target is
    /// exempt from the exclusivity checks of a class's properties.
    package let cursor: UnsafeMutablePointer<Cursor>
    private let base: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private let sink: any ByteSink
    private var flushedCount = 0

    package struct Cursor {
        package var next: UnsafeMutablePointer<UInt8>
        package var end: UnsafeMutablePointer<UInt8>
    }

    /// The maximum of `reserve`.
    package static let largestReservation = 16 * 1024

    /// Creates an output in front of a sink.
    package init(to sink: any ByteSink, capacity: Int = 256 * 1024) {
        self.sink = sink
        self.capacity = max(capacity, ByteOutput.largestReservation)
        base = .allocate(capacity: self.capacity)
        cursor = .allocate(capacity: 1)
        cursor.initialize(to: Cursor(next: base, end: base + self.capacity))
    }

    deinit {
        cursor.deallocate()
        base.deallocate()
    }

    /// The bytes written so far, flushed or not.
    package var byteCount: Int { flushedCount + (cursor.pointee.next - base) }

    /// Reserves `count` bytes (at most `largestReservation`) at the cursor. The caller advances `cursor.pointee.next`
    /// after writing.
    @inline(__always)
    package func reserve(_ count: Int) throws -> UnsafeMutablePointer<UInt8> {
        if cursor.pointee.end - cursor.pointee.next < count { try flush() }
        return cursor.pointee.next
    }

    /// Writes one byte.
    @inline(__always)
    package func write(_ byte: UInt8) throws {
        let next = try reserve(1)
        next.pointee = byte
        cursor.pointee.next = next + 1
    }

    /// Writes bytes unchanged. Pieces larger than the buffer go to the sink directly.
    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        if bytes.count > cursor.pointee.end - cursor.pointee.next {
            try flush()
            if bytes.count >= capacity {
                try sink.write(bytes)
                flushedCount += bytes.count
                return
            }
        }
        UnsafeMutableRawPointer(cursor.pointee.next).copyMemory(from: start, byteCount: bytes.count)
        cursor.pointee.next += bytes.count
    }

    /// Writes bytes unchanged.
    package func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    /// Writes the UTF-8 of a text.
    package func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    /// Writes the UTF-8 of a literal.
    package func write(literal: StaticString) throws {
        try write(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Passes the buffered bytes to the sink.
    package func flush() throws {
        let count = cursor.pointee.next - base
        guard count > 0 else { return }
        cursor.pointee.next = base
        flushedCount += count
        try sink.write(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Flushes and finishes the sink.
    package func finish() throws {
        try flush()
        try sink.finish()
    }
}

extension ByteOutput {
    // MARK: - Values

    // The texts are those of `TextValue.text(of:)`, written into the buffer without a `String`.

    /// Writes an integer in decimal digits.
    package func write(integer value: Int64) throws {
        cursor.pointee.next = IntegerText.write(value, at: try reserve(IntegerText.longest))
    }

    /// Writes a double with the shortest digits that identify it; `NaN`, `Infinity` or `-Infinity` if it is not finite.
    package func write(double value: Double) throws {
        guard value.isFinite else { return try write(literal: FloatingText.word(for: value)) }
        cursor.pointee.next = FloatingText.write(value, at: try reserve(FloatingText.longest))
    }

    /// Writes a float with the shortest digits that identify it.
    package func write(float value: Float) throws {
        guard value.isFinite else { return try write(literal: FloatingText.word(for: Double(value))) }
        cursor.pointee.next = FloatingText.write(value, at: try reserve(FloatingText.longest))
    }

    /// Writes a decimal with all digits.
    package func write(decimal value: Decimal) throws {
        cursor.pointee.next = DecimalText.write(value, at: try reserve(DecimalText.longest))
    }

    /// Writes a date, given in seconds since 2001, with full precision.
    package func write(date seconds: Double) throws {
        cursor.pointee.next = DateText.write(seconds, at: try reserve(DateText.longest))
    }

    /// Writes a UUID, given as its sixteen bytes.
    package func write(uuid bytes: UnsafeRawBufferPointer) throws {
        cursor.pointee.next = UUIDText.write(bytes, at: try reserve(UUIDText.length))
    }

    /// Writes bytes in Base64.
    package func write(base64 bytes: UnsafeRawBufferPointer) throws { try Base64.write(bytes, to: self) }
}

/// A sink that keeps everything in memory.
package final class MemorySink: ByteSink {
    /// The bytes written so far.
    package private(set) var data = Data()

    /// Creates an empty sink.
    package init() {}

    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard let start = bytes.baseAddress else { return }
        data.append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }

    package func finish() throws {}
}

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
