import Foundation

/// Reads the objects of a binary property list, each once, children before their containers.
struct BinaryPropertyListReader {
    private let bytes: UnsafeRawBufferPointer
    private let limits: BinaryPropertyList.Limits
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let topObject: Int
    private let offsetTable: Int

    /// The reading state of each object.
    private var states: [State]
    /// The children of the open containers, the innermost last.
    private var openChildren: [[Int]] = []
    /// The keys of dictionaries, by a mixture of their numbers, with the place of the references to them.
    private var keyLists: [Int: (references: UnsafeRawBufferPointer, keys: Keys)] = [:]
    /// The number of bytes that the objects may still occupy together. Objects that need more than the file has
    /// overlap.
    private var remainingBytes: Int

    private struct Keys {
        let names: [String]
        let positions: [String: Int]

        init(_ names: [String]) {
            self.names = names
            var positions: [String: Int] = [:]
            for index in 0..<names.count where positions[names[index]] == nil { positions[names[index]] = index }
            self.positions = positions
        }

        var areDifferent: Bool { positions.count == names.count }
    }

    private enum State {
        case unread
        /// A container whose children are being read. A reference to it from one of them is a cycle.
        case open
        /// `depth` is the number of containers down to the deepest value, `size` the number of values with shared ones
        /// repeated.
        case read(PropertyListValue, depth: Int, size: Int)
    }

    init(bytes: UnsafeRawBufferPointer, limits: BinaryPropertyList.Limits) throws {
        self.bytes = bytes
        self.limits = limits
        let header = BinaryPropertyList.header
        // The two version digits are not compared: the versions 01 and 1x do not differ in anything read here.
        guard bytes.count >= header.count, bytes.prefix(6).elementsEqual(header.prefix(6)) else {
            throw ArchiveError(.unknownFormat, "The data is not a binary property list.", at: .byte(0))
        }
        let trailer = bytes.count - BinaryPropertyList.trailerLength
        guard trailer >= header.count else {
            throw ArchiveError(.outOfRange, "The property list ends before its trailer.", at: .byte(bytes.count))
        }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw ArchiveError(.malformed, "The sizes in the trailer are invalid.", at: .byte(trailer + 6))
        }
        func number(at offset: Int) -> Int? { Int(exactly: Self.bigEndian(bytes, at: offset, count: 8)) }
        guard let objectCount = number(at: trailer + 8), let topObject = number(at: trailer + 16),
            let offsetTable = number(at: trailer + 24), objectCount > 0, topObject < objectCount,
            offsetTable >= header.count, offsetTable <= trailer,
            objectCount <= (trailer - offsetTable) / offsetSize
        else {
            throw ArchiveError(.outOfRange, "The trailer points outside the file.", at: .byte(trailer + 8))
        }
        self.objectCount = objectCount
        self.topObject = topObject
        self.offsetTable = offsetTable
        states = Array(repeating: .unread, count: objectCount)
        remainingBytes = bytes.count
    }

    /// Reads everything that the top object reaches. Uses a work list, so nesting in the file uses no stack.
    mutating func readTopObject() throws -> PropertyListValue {
        var pending = [topObject]
        while let number = pending.last {
            switch states[number] {
            case .read:
                pending.removeLast()
            case .unread:
                let children = try readScalarOrOpen(number)
                // The last child is pushed first, so that objects are read in the file's order.
                var index = children.count
                while index > 0 {
                    index -= 1
                    let child = children[index]
                    switch states[child] {
                    case .unread: pending.append(child)
                    case .read: break
                    case .open:
                        throw ArchiveError(
                            .cycle, "A container contains itself.", at: .byte(try offset(of: number)))
                    }
                }
            case .open:
                try close(number)
                pending.removeLast()
            }
        }
        guard case .read(let value, _, _) = states[topObject] else {
            throw ArchiveError(.malformed, "The top object cannot be read.")
        }
        return value
    }
}

// MARK: - Objects

extension BinaryPropertyListReader {
    /// Reads a scalar, or opens a container and returns the indexes of its children.
    private mutating func readScalarOrOpen(_ number: Int) throws -> [Int] {
        let start = try offset(of: number)
        let marker = bytes[start] >> 4
        let low = Int(bytes[start] & 0x0F)
        let value: PropertyListValue
        switch marker {
        case BinaryPropertyListMarker.simple:
            switch low {
            case 0x0: value = .null
            case 0x8: value = .boolean(false)
            case 0x9: value = .boolean(true)
            default: throw unknownMarker(at: start)
            }
        case BinaryPropertyListMarker.integer:
            value = try integer(at: start, exponent: low)
        case BinaryPropertyListMarker.real:
            value = .real(try real(at: start, exponent: low))
        case BinaryPropertyListMarker.date:
            guard low == 3 else { throw unknownMarker(at: start) }
            value = .date(Date(timeIntervalSinceReferenceDate: try real(at: start, exponent: 3)))
        case BinaryPropertyListMarker.data:
            let payload = try payload(at: start, low: low, unit: 1)
            try spend(payload.count, at: start)
            value = .data(Data(payload))
        case BinaryPropertyListMarker.asciiString, BinaryPropertyListMarker.utf8String:
            let payload = try payload(at: start, low: low, unit: 1)
            try spend(payload.count, at: start)
            value = .string(String(decoding: payload, as: UTF8.self))
        case BinaryPropertyListMarker.utf16String:
            let units = try payload(at: start, low: low, unit: 2)
            try spend(units.count, at: start)
            let codeUnits: [UInt16] = stride(from: units.startIndex, to: units.endIndex, by: 2)
                .map { UInt16(units[$0]) << 8 | UInt16(units[$0 + 1]) }
            value = .string(String(decoding: codeUnits, as: UTF16.self))
        case BinaryPropertyListMarker.uid:
            let digits = try slice(start + 1, count: low + 1, from: start)
            guard digits.count <= 8, let uid = Int(exactly: Self.bigEndian(digits)) else {
                throw ArchiveError(.malformed, "A reference is too large.", at: .byte(start))
            }
            value = .uid(uid)
        case BinaryPropertyListMarker.array, BinaryPropertyListMarker.orderedSet, BinaryPropertyListMarker.set,
            BinaryPropertyListMarker.dictionary:
            states[number] = .open
            let children = try children(at: start)
            try spend(children.count * referenceSize, at: start)
            openChildren.append(children)
            return children
        default:
            throw unknownMarker(at: start)
        }
        states[number] = .read(value, depth: 0, size: 1)
        return []
    }

    /// Subtracts the bytes of an object from the rest. Overlapping objects would let a small file represent a huge
    /// value.
    private mutating func spend(_ count: Int, at start: Int) throws {
        remainingBytes -= count
        guard remainingBytes >= 0 else {
            throw ArchiveError(.malformed, "Objects overlap.", at: .byte(start))
        }
    }

    /// Builds the value of a container whose children have been read.
    private mutating func close(_ number: Int) throws {
        let start = try offset(of: number)
        let marker = bytes[start] >> 4
        let children = openChildren.removeLast()
        let keyCount = marker == BinaryPropertyListMarker.dictionary ? children.count / 2 : 0
        let keys = try keys(children[..<keyCount], at: start)
        var values: [PropertyListValue] = []
        values.reserveCapacity(children.count - keyCount)
        var depth = 0
        var size = 1 + keyCount
        for child in children[keyCount...] {
            guard case .read(let value, let childDepth, let childSize) = states[child] else {
                throw ArchiveError(.cycle, "A container contains itself.", at: .byte(start))
            }
            values.append(value)
            depth = max(depth, childDepth)
            size += childSize
            guard size <= limits.valueCount else {
                throw ArchiveError(
                    .tooLarge, "The property list represents more than \(limits.valueCount) values.", at: .byte(start))
            }
        }
        guard depth < limits.depth else {
            throw ArchiveError(
                .tooLarge, "The property list nests deeper than \(limits.depth) levels.", at: .byte(start))
        }
        let value: PropertyListValue =
            switch marker {
            case BinaryPropertyListMarker.array, BinaryPropertyListMarker.orderedSet: .array(values)
            case BinaryPropertyListMarker.set: .set(values)
            case _ where keys.areDifferent:
                .dictionary(PropertyListDictionary(keys: keys.names, positions: keys.positions, values: values))
            default: .dictionary(PropertyListDictionary(zip(keys.names, values)))
            }
        states[number] = .read(value, depth: depth + 1, size: size)
    }

    /// The keys of a dictionary. Dictionaries with the same key objects, such as those of a class in an archive, share them: the bytes of
    /// their references are the same.
    private mutating func keys(_ numbers: ArraySlice<Int>, at start: Int) throws -> Keys {
        guard let first = numbers.first, let last = numbers.last else { return Keys([]) }
        // Lists of other numbers may have the same mixture: the bytes decide. A hash of all numbers takes longer than the comparison.
        let mixture = first &+ last &<< 20 &+ numbers.count &<< 40
        let low = Int(bytes[start] & 0x0F)
        let references = UnsafeRawBufferPointer(
            rebasing: try payload(at: start, low: low, unit: 2 * referenceSize).prefix(numbers.count * referenceSize))
        if let known = keyLists[mixture], known.references.count == references.count,
            let one = known.references.baseAddress, let other = references.baseAddress,
            memcmp(one, other, references.count) == 0
        {
            return known.keys
        }
        let names = try numbers.map { number in
            guard case .read(.string(let key), _, _) = states[number] else {
                throw ArchiveError(.malformed, "A dictionary key is not a string.", at: .byte(start))
            }
            return key
        }
        let keys = Keys(names)
        keyLists[mixture] = (references, keys)
        return keys
    }

    /// The indexes of the objects in a container: of a dictionary, all keys and then all values.
    private func children(at start: Int) throws -> [Int] {
        let isDictionary = bytes[start] >> 4 == BinaryPropertyListMarker.dictionary
        let low = Int(bytes[start] & 0x0F)
        let references = try payload(at: start, low: low, unit: isDictionary ? 2 * referenceSize : referenceSize)
        var children: [Int] = []
        children.reserveCapacity(references.count / referenceSize)
        var position = references.startIndex
        while position < references.endIndex {
            let number = Self.bigEndian(bytes, at: position, count: referenceSize)
            guard number < UInt64(objectCount) else {
                throw ArchiveError(
                    .outOfRange, "A container refers to an object that does not exist.", at: .byte(position))
            }
            children.append(Int(number))
            position += referenceSize
        }
        return children
    }
}

// MARK: - Bytes

extension BinaryPropertyListReader {
    private static func bigEndian(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt64 {
        bigEndian(digits.base, at: digits.startIndex, count: digits.count)
    }

    /// A loop and not a closure for each byte, which takes most of the reading in a debug build.
    private static func bigEndian(_ bytes: UnsafeRawBufferPointer, at position: Int, count: Int) -> UInt64 {
        var number: UInt64 = 0
        var offset = 0
        while offset < count {
            number = number << 8 | UInt64(bytes[position + offset])
            offset += 1
        }
        return number
    }

    private func offset(of number: Int) throws -> Int {
        let position = offsetTable + number * offsetSize
        let offset = Self.bigEndian(bytes, at: position, count: offsetSize)
        guard offset >= UInt64(BinaryPropertyList.header.count), offset < UInt64(offsetTable) else {
            throw ArchiveError(.outOfRange, "An object is outside the file.", at: .byte(position))
        }
        return Int(offset)
    }

    /// `count` bytes of the object at `start`.
    private func slice(_ position: Int, count: Int, from start: Int) throws -> Slice<UnsafeRawBufferPointer> {
        guard position <= offsetTable, count >= 0, count <= offsetTable - position else {
            throw ArchiveError(.outOfRange, "An object is longer than the file.", at: .byte(start))
        }
        return bytes[position..<position + count]
    }

    /// The bytes of an object with a count. A count of 15 or more follows as an integer object.
    private func payload(at start: Int, low: Int, unit: Int) throws -> Slice<UnsafeRawBufferPointer> {
        guard low == 0x0F else { return try slice(start + 1, count: low * unit, from: start) }
        let marker = try slice(start + 1, count: 1, from: start)[start + 1]
        guard marker >> 4 == BinaryPropertyListMarker.integer, marker & 0x0F <= 3 else {
            throw ArchiveError(.malformed, "The count of an object is not an integer.", at: .byte(start + 1))
        }
        let width = 1 << Int(marker & 0x0F)
        let count = Self.bigEndian(try slice(start + 2, count: width, from: start))
        guard count <= UInt64(bytes.count) else {
            throw ArchiveError(.outOfRange, "An object is longer than the file.", at: .byte(start))
        }
        return try slice(start + 2 + width, count: Int(count) * unit, from: start)
    }

    private func integer(at start: Int, exponent: Int) throws -> PropertyListValue {
        guard exponent <= 4 else { throw unknownMarker(at: start) }
        let digits = try slice(start + 1, count: 1 << exponent, from: start)
        guard exponent == 4 else {
            let bits = Self.bigEndian(digits)
            // One, two and four bytes are unsigned, eight are signed.
            return .integer(Int64(bitPattern: bits))
        }
        let upper = Self.bigEndian(digits.prefix(8))
        let lower = Self.bigEndian(digits.suffix(8))
        if upper == 0 { return lower > UInt64(Int64.max) ? .unsignedInteger(lower) : .integer(Int64(lower)) }
        if upper == .max, lower > UInt64(Int64.max) { return .integer(Int64(bitPattern: lower)) }
        throw ArchiveError(.malformed, "An integer has more than 64 bits.", at: .byte(start))
    }

    private func real(at start: Int, exponent: Int) throws -> Double {
        switch exponent {
        case 2:
            let bits = Self.bigEndian(try slice(start + 1, count: 4, from: start))
            return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 3: return Double(bitPattern: Self.bigEndian(try slice(start + 1, count: 8, from: start)))
        default: throw unknownMarker(at: start)
        }
    }

    private func unknownMarker(at start: Int) -> ArchiveError {
        ArchiveError(
            .malformed, "The marker \(String(bytes[start], radix: 16)) is unknown.", at: .byte(start))
    }
}
