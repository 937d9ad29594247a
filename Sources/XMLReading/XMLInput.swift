import Foundation

/// A forward-moving window on the bytes of a document. The bytes up to ``end`` are valid UTF-8, and no character is cut
/// there.
final class XMLInput {
    private let read: (UnsafeMutableRawBufferPointer) throws -> Int
    private(set) var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// The next byte, relative to `base`.
    var position = 0
    /// The end of the checked bytes, relative to `base`.
    private(set) var end = 0
    /// The end of the read bytes: after `end` there may be the beginning of a character.
    private var filled = 0
    /// The byte from which on the window is kept; nil for `position`.
    var mark: Int?
    private var isAtEnd = false
    /// Whether the document ended inside a text that was expected.
    private(set) var isCut = false
    /// The offset of `base` in the document.
    private var offset = 0
    /// The line of the byte `counted`, and the offset of the line's first byte.
    private var line = 1
    private var lineStart = 0
    private var counted = 0

    private static let pieceSize = 64 * 1024

    /// Creates an input of the bytes that a function writes to a buffer; it returns their number, and 0 at the end.
    init(_ read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        self.read = read
        capacity = XMLInput.pieceSize
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    /// The position of the next byte. Cost: one search for line ends in the bytes since the last call.
    var place: XMLPlace { place(at: position) }

    private func place(at index: Int) -> XMLPlace {
        while counted < index, let found = memchr(base + counted, 0x0A, index - counted) {
            counted = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - UnsafePointer(base) + 1
            line += 1
            lineStart = offset + counted
        }
        counted = max(counted, index)
        return XMLPlace(offset: offset + index, line: line, column: offset + index - lineStart + 1)
    }

    /// The next byte; nil at the end of the document.
    @inline(__always)
    func peek() throws -> UInt8? {
        if position == end, try !fill() { return nil }
        return base[position]
    }

    /// Whether the next bytes are those of the text, which are consumed if so.
    func take(_ text: StaticString) throws -> Bool {
        let count = text.utf8CodeUnitCount
        while end - position < count {
            guard try fill() else {
                if memcmp(base + position, text.utf8Start, end - position) == 0 { isCut = true }
                return false
            }
        }
        guard memcmp(base + position, text.utf8Start, count) == 0 else { return false }
        position += count
        isCut = false
        return true
    }

    /// Reads more bytes. Returns false at the end of the document.
    func fill() throws -> Bool {
        guard !isAtEnd else { return false }
        let kept = mark ?? position
        if kept > 0 {
            _ = place(at: kept)
            memmove(base, base + kept, filled - kept)
            position -= kept
            end -= kept
            filled -= kept
            counted -= kept
            offset += kept
            if mark != nil { mark = 0 }
        }
        let before = end
        while end == before {
            if filled > capacity / 2 { grow() }
            let count = try read(UnsafeMutableRawBufferPointer(start: base + filled, count: capacity - filled))
            filled += count
            if count == 0 {
                isAtEnd = true
                guard end == filled else { throw invalidText(at: end) }
                return false
            }
            try check()
        }
        return true
    }

    /// Moves `end` behind the last whole character of the read bytes.
    private func check() throws {
        let bytes = UnsafeRawBufferPointer(start: base + end, count: filled - end)
        guard let invalid = UTF8Check.firstInvalid(in: bytes) else {
            end = filled
            return
        }
        // The rest of a character of up to four bytes may follow.
        guard bytes.count - invalid <= 3 else { throw invalidText(at: end + invalid) }
        end += invalid
    }

    private func invalidText(at index: Int) -> XMLError {
        XMLError(.invalidText, "The text is not valid UTF-8.", at: place(at: index))
    }

    private func grow() {
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2)
        larger.update(from: base, count: filled)
        base.deallocate()
        base = larger
        capacity *= 2
    }
}

/// Validates UTF-8, with a fast path for ASCII.
package enum UTF8Check {
    /// The position of the first byte that is not part of valid UTF-8, or nil. Surrogates, overlong forms and values
    /// above U+10FFFF are invalid.
    package static func firstInvalid(in bytes: UnsafeRawBufferPointer) -> Int? {
        let count = bytes.count
        var index = 0
        while index < count {
            if index + 8 <= count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                if word & 0x8080_8080_8080_8080 == 0 {
                    index += 8
                    continue
                }
            }
            let first = bytes[index]
            if first < 0x80 {
                index += 1
                continue
            }
            let length: Int
            let lowest: UInt8
            let highest: UInt8
            switch first {
            case 0xC2...0xDF: (length, lowest, highest) = (2, 0x80, 0xBF)
            case 0xE0: (length, lowest, highest) = (3, 0xA0, 0xBF)
            case 0xED: (length, lowest, highest) = (3, 0x80, 0x9F)
            case 0xE1...0xEF: (length, lowest, highest) = (3, 0x80, 0xBF)
            case 0xF0: (length, lowest, highest) = (4, 0x90, 0xBF)
            case 0xF1...0xF3: (length, lowest, highest) = (4, 0x80, 0xBF)
            case 0xF4: (length, lowest, highest) = (4, 0x80, 0x8F)
            default: return index
            }
            guard index + length <= count, (lowest...highest).contains(bytes[index + 1]) else { return index }
            for following in 2..<max(length, 2) where bytes[index + following] & 0xC0 != 0x80 { return index }
            index += length
        }
        return nil
    }
}
