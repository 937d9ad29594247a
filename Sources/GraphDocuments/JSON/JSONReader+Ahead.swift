import Foundation

// Members of open objects that have not been read yet: the members of a JSON object are in any order, and some of them
// decide how the others are read.

/// A search for the members with one name in objects that have not been read yet. Each byte is searched once, even where
/// objects nest: the members of inner objects are remembered while those of an outer one are searched.
struct JSONMemberSearch {
    /// The name of the members.
    var name: [UInt8] = []
    /// The offset of the next byte to search.
    var offset = 0
    /// The offsets at which the objects begin that have not ended before `offset`, from the outermost.
    var open: [Int] = []
    /// The values that were found, by the offset at which their object begins.
    var values: [Int: Range<Int>] = [:]
    /// The number of values at which those of objects that have been read are removed.
    var sweepCount = 4096
}

extension JSONReader {
    /// The longest distance that is searched, in bytes.
    static let longestDistance = 16 << 20

    mutating func treeAhead(under name: [UInt8]) throws -> ReadableValue? {
        guard let value = try valueAhead(under: name) else { return nil }
        let start = value.lowerBound - input.window.pointee.offset
        let bytes = Data(bytes: input.window.pointee.base + start, count: value.count)
        var reader = JSONReader(bytes, options: options, limits: limits)
        // An invalid value is an error where it is read.
        return try? reader.readTree(reader.next())
    }

    /// The range of the value under a name in the innermost open object. Nil if the rest of the object has no such member, or
    /// none within 16 MB. The bytes up to the value stay in the window.
    private mutating func valueAhead(under name: [UInt8]) throws -> Range<Int>? {
        guard let object = frames.last?.start else { return nil }
        if ahead.name != name || ahead.offset < input.offset {
            ahead = JSONMemberSearch(name: name, offset: input.offset, open: [object])
        }
        if let depth = ahead.open.firstIndex(of: object) {
            while ahead.values[object] == nil, ahead.open.count > depth {
                guard try searchOn() else { return nil }
            }
        }
        return ahead.values[object]
    }

    /// Searches up to the next member with the name, or the next end of an object. False at the end of the document, and of the
    /// distance.
    private mutating func searchOn() throws -> Bool {
        while ahead.offset - input.offset < Self.longestDistance, let byte = try byteAhead(ahead.offset) {
            let start = ahead.offset
            ahead.offset += 1
            switch byte {
            case UInt8(ascii: "{"): ahead.open.append(ahead.offset)
            case UInt8(ascii: "}"):
                _ = ahead.open.popLast()
                return true
            case UInt8(ascii: "\""):
                guard let end = try endOfStringAhead(start) else { return false }
                ahead.offset = end
                guard let object = ahead.open.last, end - start == ahead.name.count + 2,
                    try isName(at: start + 1), let colon = try nonSpaceAhead(end),
                    try byteAhead(colon) == UInt8(ascii: ":"), let value = try nonSpaceAhead(colon + 1)
                else { continue }
                ahead.offset = value
                guard let end = try endOfValueAhead(value) else { return false }
                ahead.offset = end
                add(value..<end, of: object)
                return true
            default: break
            }
        }
        return false
    }

    private mutating func add(_ value: Range<Int>, of object: Int) {
        if ahead.values.count >= ahead.sweepCount {
            let read = input.offset
            ahead.values = ahead.values.filter { $0.key >= read }
            ahead.sweepCount = max(4096, 2 * ahead.values.count)
        }
        ahead.values[object] = value
    }

    private mutating func isName(at start: Int) throws -> Bool {
        for (distance, byte) in ahead.name.enumerated() where try byteAhead(start + distance) != byte { return false }
        return true
    }

    /// The offset after the string that begins at an offset.
    private mutating func endOfStringAhead(_ start: Int) throws -> Int? {
        var offset = start + 1
        while let byte = try byteAhead(offset) {
            if byte == UInt8(ascii: "\"") { return offset + 1 }
            offset += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    /// The offset after the value that begins at an offset. Nil for a number, or a word, which no caller searches for.
    private mutating func endOfValueAhead(_ start: Int) throws -> Int? {
        var offset = start
        var depth = 0
        while let byte = try byteAhead(offset) {
            switch byte {
            case UInt8(ascii: "\""):
                guard let end = try endOfStringAhead(offset) else { return nil }
                offset = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                offset += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                offset += 1
            default:
                guard depth > 0 else { return nil }
                offset += 1
                continue
            }
            if depth <= 0 { return offset }
        }
        return nil
    }

    private mutating func nonSpaceAhead(_ start: Int) throws -> Int? {
        var offset = start
        while let byte = try byteAhead(offset) {
            if ![0x20, 0x09, 0x0A, 0x0D].contains(byte) { return offset }
            offset += 1
        }
        return nil
    }

    /// The byte at an offset in the document that has not been read. The text of the token that was read last stays valid.
    private mutating func byteAhead(_ offset: Int) throws -> UInt8? {
        let window = input.window
        while offset >= window.pointee.offset + window.pointee.end {
            let start = textIsInScratch ? window.pointee.position : min(textStart, window.pointee.position)
            guard offset - input.offset <= Self.longestDistance, let moved = try input.refill(keepingFrom: start) else {
                return nil
            }
            if !textIsInScratch { textStart -= moved }
        }
        return window.pointee.base[offset - window.pointee.offset]
    }
}
