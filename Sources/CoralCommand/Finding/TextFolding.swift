import Foundation

/// Folds the case and the diacritics of UTF-8. Texts that Foundation finds equal with `.caseInsensitive` and
/// `.diacriticInsensitive` have the same folded bytes.
///
/// Letters become lower case, and combining marks and format characters are dropped.
final class TextFolding {
    /// Where the folded bytes of a scalar are in the pool, and their number.
    private struct Entry {
        var start: UInt32
        var count: UInt32
    }

    private var pool: [UInt8] = []
    /// The entries of the scalars below U+10000; a start of `.max` marks one that has not been folded yet.
    private var entries = [Entry](repeating: Entry(start: .max, count: 0), count: 0x10000)
    private var others: [Unicode.Scalar: Entry] = [:]
    private var buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 4096)
    private var count = 0

    deinit { buffer.deallocate() }

    /// The folded bytes, valid until the next call. Bytes that are not UTF-8 become U+FFFD, as in a `String`.
    func folded(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        count = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x80 {
                append((65...90).contains(byte) ? byte | 0x20 : byte)
                index += 1
            } else {
                let (scalar, length) = Self.scalar(bytes, at: index)
                append(entry(of: scalar))
                index += length
            }
        }
        return UnsafeRawBufferPointer(start: buffer.baseAddress, count: count)
    }

    /// The scalar that begins at a byte of 0x80 or more, and its number of bytes.
    @inline(__always)
    private static func scalar(_ bytes: UnsafeRawBufferPointer, at index: Int) -> (Unicode.Scalar, Int) {
        let first = bytes[index]
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first <= 0xF4, index + length <= bytes.count else { return ("\u{FFFD}", 1) }
        var value = UInt32(first) & (0x7F >> UInt32(length))
        for offset in 1..<length {
            guard bytes[index + offset] & 0xC0 == 0x80 else { return ("\u{FFFD}", 1) }
            value = value << 6 | UInt32(bytes[index + offset] & 0x3F)
        }
        return Unicode.Scalar(value).map { ($0, length) } ?? ("\u{FFFD}", 1)
    }

    @inline(__always)
    private func append(_ byte: UInt8) {
        if count == buffer.count { grow(by: 1) }
        buffer[count] = byte
        count += 1
    }

    private func append(_ entry: Entry) {
        if count + Int(entry.count) > buffer.count { grow(by: Int(entry.count)) }
        for index in Int(entry.start)..<Int(entry.start + entry.count) {
            buffer[count] = pool[index]
            count += 1
        }
    }

    private func grow(by needed: Int) {
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: buffer.count * 2 + needed)
        _ = larger.update(fromContentsOf: buffer[..<count])
        buffer.deallocate()
        buffer = larger
    }

    // MARK: - Scalars

    private func entry(of scalar: Unicode.Scalar) -> Entry {
        guard scalar.value < 0x10000 else {
            if let known = others[scalar] { return known }
            let entry = add(scalar)
            others[scalar] = entry
            return entry
        }
        let known = entries[Int(scalar.value)]
        if known.start != .max { return known }
        let entry = add(scalar)
        entries[Int(scalar.value)] = entry
        return entry
    }

    private func add(_ scalar: Unicode.Scalar) -> Entry {
        let start = pool.count
        for part in String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars where !Self.isOmitted(part) {
            // By way of upper case, so that ς and σ, ſ and s, and ß, ẞ and ss are the same.
            let small = String(part).lowercased().uppercased().lowercased()
            for folded in small.unicodeScalars where !Self.isOmitted(folded) { pool += Array(String(folded).utf8) }
        }
        return Entry(start: UInt32(start), count: UInt32(pool.count - start))
    }

    private static func isOmitted(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format: true
        default: false
        }
    }
}
