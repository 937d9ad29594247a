import Foundation

/// Where written bytes go.
public protocol ByteSink: AnyObject {
    /// Takes bytes in order. Throws `DocumentError` where they cannot be taken.
    func write(_ bytes: UnsafeRawBufferPointer) throws
    /// Called once after the last byte.
    func finish() throws
}

/// A buffer in front of a sink: bytes collect here and go on in large pieces.
///
/// What has not been flushed when the output is dropped is lost: call `finish`.
public final class ByteOutput {
    /// The free part of the buffer. Behind a pointer because every byte written passes here, and a pointer's target is
    /// exempt from the exclusivity checks that a class's properties pay for.
    package let cursor: UnsafeMutablePointer<Cursor>
    private let base: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private let sink: any ByteSink
    private var flushedCount = 0

    package struct Cursor {
        package var next: UnsafeMutablePointer<UInt8>
        package var end: UnsafeMutablePointer<UInt8>
    }

    /// The largest piece that `reserve` gives.
    package static let largestReservation = 16 * 1024

    /// An output in front of a sink.
    public init(to sink: any ByteSink, capacity: Int = 256 * 1024) {
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
    public var byteCount: Int { flushedCount + (cursor.pointee.next - base) }

    /// Room for `count` bytes (at most `largestReservation`) at the cursor. Who writes there moves `cursor.pointee.next`.
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

    /// Writes bytes as they are. Pieces larger than the buffer go to the sink directly.
    public func write(_ bytes: UnsafeRawBufferPointer) throws {
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

    /// Writes bytes as they are.
    public func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    /// Writes a text's UTF-8 as it is.
    public func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    /// Writes a literal's UTF-8 as it is.
    package func write(literal: StaticString) throws {
        try write(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Hands what has collected to the sink.
    public func flush() throws {
        let count = cursor.pointee.next - base
        guard count > 0 else { return }
        cursor.pointee.next = base
        flushedCount += count
        try sink.write(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Flushes and tells the sink that this was all.
    public func finish() throws {
        try flush()
        try sink.finish()
    }
}

/// A sink that keeps everything in memory.
public final class MemorySink: ByteSink {
    /// What has arrived so far.
    public private(set) var data = Data()

    /// An empty sink.
    public init() {}

    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard let start = bytes.baseAddress else { return }
        data.append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }

    public func finish() throws {}
}
