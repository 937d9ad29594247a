import Foundation

/// A 64-bit hash of a property's value, the same in every process (FNV-1a, over bytes that include the type).
///
/// Suitable for detecting changes, but not against attacks: collisions can be constructed.
struct PropertyPrint {
    private(set) var bits: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The hash of an attribute's value. Zero means unknown, so no value has it.
    static func of(_ value: GraphValue) -> UInt64 {
        var print = PropertyPrint()
        print.add(value)
        return max(print.bits, 1)
    }

    /// The hash of a relationship's target, whose members are in canonical order.
    static func of(_ target: RelationshipTarget) -> UInt64 {
        var print = PropertyPrint()
        switch target {
        case .toOne(let id):
            print.add(byte: 32)
            if let id { print.add(id.text) }
        case .toMany(let ids):
            print.add(byte: 33)
            for id in ids { print.add(id.text) }
        case .nullToMany: print.add(byte: 34)
        }
        return max(print.bits, 1)
    }

    private mutating func add(byte: UInt8) { bits = (bits ^ UInt64(byte)) &* 0x100_0000_01b3 }

    private mutating func add(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { add(byte: UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    /// The length is added first, so that "a", "bc" differs from "ab", "c".
    private mutating func add(_ bytes: some Collection<UInt8>) {
        add(UInt64(bytes.count))
        for byte in bytes { add(byte: byte) }
    }

    private mutating func add(_ text: String) { add(text.utf8) }

    private mutating func add(_ value: GraphValue) {
        switch value {
        case .null: add(byte: 0)
        case .bool(let value): add(byte: value ? 2 : 1)
        case .integer(let value):
            add(byte: 3)
            add(UInt64(bitPattern: value))
        case .double(let value):
            add(byte: 4)
            add(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
        case .date(let value):
            add(byte: 5)
            add(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
        case .float(let value):
            add(byte: 6)
            add(UInt64(value.isNaN ? Float.nan.bitPattern : value.bitPattern))
        case .decimal(let value):
            add(byte: 7)
            add(DecimalText.text(value))
        case .string(let value):
            add(byte: 8)
            add(value)
        case .data(let value):
            add(byte: 9)
            add(value)
        case .uuid(let value):
            add(byte: 10)
            add(value.uuidString)
        case .uri(let value):
            add(byte: 11)
            add(value)
        case .composite(let elements):
            add(byte: 12)
            for element in elements {
                add(element.name)
                add(element.value)
            }
        case .transformable(let value):
            add(byte: 13)
            if let archive = value.archive { add(archive) } else if let tree = value.readable { add(tree) }
        case .file(let file):
            add(byte: file.isMissing ? 18 : 14)
            add(file.path)
        }
    }

    /// Recursive; readers have limited the depth of trees.
    private mutating func add(_ tree: ReadableValue) {
        switch tree {
        case .value(let value): add(value)
        case .array(let values):
            add(byte: 16)
            for value in values { add(value) }
        case .dictionary(let members):
            add(byte: 17)
            for member in members {
                add(member.name)
                add(member.value)
            }
        }
    }
}
