import Foundation

/// Writes a binary property list: numbers the objects first, then writes each.
struct BinaryPropertyListWriter {
    private let depthLimit: Int
    /// The objects in the order of their numbers.
    private var objects: [PropertyListValue] = []
    /// The object numbers of each container's children, container by container.
    private var references: [Int] = []
    /// The index in ``references`` of a container's first child; -1 for scalars.
    private var firstReferences: [Int] = []
    private var numbers: [Scalar: Int] = [:]

    /// The identity of a scalar in the object table. Reals are compared by their bits: 0.0 is not -0.0. Strings that
    /// are not ASCII are compared by their UTF-8: Swift treats different encodings of one character as equal.
    private enum Scalar: Hashable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case unsignedInteger(UInt64)
        case real(UInt64)
        case date(UInt64)
        case data(Data)
        case string(String)
        case unicodeString([UInt8])
        case uid(Int)
    }

    /// An object that is still to be numbered, and the reference that receives its number.
    private struct Pending {
        var value: PropertyListValue
        var reference: Int?
        var depth: Int
    }

    init(depthLimit: Int) {
        self.depthLimit = depthLimit
    }

    mutating func write(_ value: PropertyListValue) throws -> Data {
        try numberObjects(from: value)
        let referenceSize = Self.size(of: objects.count)
        var output = Output()
        output.bytes.append(contentsOf: BinaryPropertyList.header)
        var offsets: [Int] = []
        offsets.reserveCapacity(objects.count)
        for (number, object) in objects.enumerated() {
            offsets.append(output.bytes.count)
            output.append(object)
            if let count = Self.childCount(of: object) {
                let first = firstReferences[number]
                for reference in references[first..<first + count] { output.append(reference, size: referenceSize) }
            }
        }
        let offsetTable = output.bytes.count
        let offsetSize = Self.size(of: offsetTable)
        for offset in offsets { output.append(offset, size: offsetSize) }
        output.bytes.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
        for number in [objects.count, 0, offsetTable] { output.append(number, size: 8) }
        return Data(output.bytes)
    }

    /// Numbers all objects: a container before its children, a dictionary's keys before its values.
    private mutating func numberObjects(from top: PropertyListValue) throws {
        var pending = [Pending(value: top, reference: nil, depth: 0)]
        while let next = pending.popLast() {
            if let scalar = Self.scalar(next.value) {
                let number = numbers[scalar] ?? append(next.value)
                numbers[scalar] = number
                if let reference = next.reference { references[reference] = number }
                continue
            }
            guard next.depth < depthLimit else {
                throw ArchiveError(.tooLarge, "The property list nests deeper than \(depthLimit) levels.")
            }
            let number = append(next.value)
            if let reference = next.reference { references[reference] = number }
            let first = references.count
            firstReferences[number] = first
            let children: [PropertyListValue] =
                if let dictionary = next.value.dictionary {
                    dictionary.keys.map { .string($0) } + dictionary.values
                } else {
                    next.value.elements ?? []
                }
            references.append(contentsOf: repeatElement(0, count: children.count))
            for (position, child) in children.enumerated().reversed() {
                pending.append(Pending(value: child, reference: first + position, depth: next.depth + 1))
            }
        }
    }

    private mutating func append(_ value: PropertyListValue) -> Int {
        objects.append(value)
        firstReferences.append(-1)
        return objects.count - 1
    }

    private static func scalar(_ value: PropertyListValue) -> Scalar? {
        switch value {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .unsignedInteger(let value): .unsignedInteger(value)
        case .real(let value): .real(value.bitPattern)
        case .date(let value): .date(value.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let value): .data(value)
        case .string(let value):
            value.utf8.allSatisfy { $0 < 0x80 } ? .string(value) : .unicodeString(Array(value.utf8))
        case .uid(let value): .uid(value)
        case .array, .set, .dictionary: nil
        }
    }

    private static func childCount(of value: PropertyListValue) -> Int? {
        value.dictionary.map { 2 * $0.count } ?? value.elements?.count
    }

    /// The number of bytes that a number needs: one, two, four or eight.
    private static func size(of number: Int) -> Int {
        switch number {
        case ..<0x100: 1
        case ..<0x1_0000: 2
        case ..<0x1_0000_0000: 4
        default: 8
        }
    }
}

extension BinaryPropertyListWriter {
    /// The bytes written so far.
    private struct Output {
        var bytes: [UInt8] = []

        mutating func append(_ number: Int, size: Int) {
            append(UInt64(bitPattern: Int64(number)), size: size)
        }

        mutating func append(_ number: UInt64, size: Int) {
            for shift in stride(from: 8 * (size - 1), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
            }
        }

        mutating func append(marker: UInt8, count: Int) {
            if count < 15 {
                bytes.append(marker << 4 | UInt8(count))
            } else {
                bytes.append(marker << 4 | 0x0F)
                appendInteger(Int64(count))
            }
        }

        mutating func appendInteger(_ value: Int64) {
            let exponent: UInt8 =
                switch value {
                case 0..<0x100: 0
                case 0..<0x1_0000: 1
                case 0..<0x1_0000_0000: 2
                default: 3
                }
            bytes.append(BinaryPropertyListMarker.integer << 4 | exponent)
            append(UInt64(bitPattern: value), size: 1 << Int(exponent))
        }

        /// Appends a whole scalar, or the part of a container before its references.
        mutating func append(_ value: PropertyListValue) {
            switch value {
            case .null: bytes.append(0x00)
            case .boolean(let value): bytes.append(value ? 0x09 : 0x08)
            case .integer(let value): appendInteger(value)
            case .unsignedInteger(let value):
                bytes.append(BinaryPropertyListMarker.integer << 4 | 4)
                append(UInt64(0), size: 8)
                append(value, size: 8)
            case .real(let value):
                bytes.append(BinaryPropertyListMarker.real << 4 | 3)
                append(value.bitPattern, size: 8)
            case .date(let value):
                bytes.append(BinaryPropertyListMarker.date << 4 | 3)
                append(value.timeIntervalSinceReferenceDate.bitPattern, size: 8)
            case .data(let value):
                append(marker: BinaryPropertyListMarker.data, count: value.count)
                bytes.append(contentsOf: value)
            case .string(let value): append(value)
            case .uid(let value):
                let size = BinaryPropertyListWriter.size(of: value)
                bytes.append(BinaryPropertyListMarker.uid << 4 | UInt8(size - 1))
                append(value, size: size)
            case .array(let values): append(marker: BinaryPropertyListMarker.array, count: values.count)
            case .set(let values): append(marker: BinaryPropertyListMarker.set, count: values.count)
            case .dictionary(let value): append(marker: BinaryPropertyListMarker.dictionary, count: value.count)
            }
        }

        private mutating func append(_ string: String) {
            if string.utf8.allSatisfy({ $0 < 0x80 }) {
                append(marker: BinaryPropertyListMarker.asciiString, count: string.utf8.count)
                bytes.append(contentsOf: string.utf8)
            } else {
                append(marker: BinaryPropertyListMarker.utf16String, count: string.utf16.count)
                for unit in string.utf16 { append(UInt64(unit), size: 2) }
            }
        }
    }
}
