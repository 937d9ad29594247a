import Foundation
import GraphDocuments

/// The fields of a message of Protocol Buffers, read without its schema.
///
/// The wire format has numbers instead of names, and not the types of values: a value of variable length is text if it is
/// readable, a message if all its bytes are fields, and bytes otherwise.
enum MessageFields {
    private static let depthLimit = 32

    /// The fields by number, in the order of the bytes; nil for bytes that are not a message. Few bytes are often one by
    /// chance, so one field must contain text.
    static func tree(of data: Data) -> ReadableValue? {
        var hasText = false
        guard let tree = fields(of: [UInt8](data)[...], depth: 0, &hasText), hasText else { return nil }
        return tree
    }

    private static func fields(of bytes: ArraySlice<UInt8>, depth: Int, _ hasText: inout Bool) -> ReadableValue? {
        guard depth < depthLimit, !bytes.isEmpty else { return nil }
        var rest = bytes
        var members: [ReadableValue.Member] = []
        while !rest.isEmpty {
            // The number of a field has 29 bits; 0 is not one.
            guard let tag = number(&rest), case let field = tag >> 3, (1...536_870_911).contains(field) else {
                return nil
            }
            let value: ReadableValue
            switch tag & 7 {
            case 0:
                guard let number = number(&rest) else { return nil }
                value = .value(.integer(Int64(bitPattern: number)))
            case 1:
                guard let bits = fixed(&rest, count: 8) else { return nil }
                value = .value(.double(Double(bitPattern: bits)))
            case 5:
                guard let bits = fixed(&rest, count: 4) else { return nil }
                value = .value(.float(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
            case 2:
                guard let count = number(&rest), count <= UInt64(rest.count) else { return nil }
                value = content(rest.prefix(Int(count)), depth: depth, &hasText)
                rest = rest.dropFirst(Int(count))
            default: return nil
            }
            members.append(ReadableValue.Member(name: String(field), value: value))
        }
        return .dictionary(members)
    }

    /// A value of variable length.
    private static func content(_ bytes: ArraySlice<UInt8>, depth: Int, _ hasText: inout Bool) -> ReadableValue {
        if let text = ReadableBytes.plainText(Data(bytes)) {
            hasText = hasText || text.unicodeScalars.count > 3
            return .value(.string(text))
        }
        return fields(of: bytes, depth: depth + 1, &hasText) ?? .value(.data(Data(bytes)))
    }

    /// A number of seven bits a byte, the lowest first.
    private static func number(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        return nil
    }

    private static func fixed(_ bytes: inout ArraySlice<UInt8>, count: Int) -> UInt64? {
        guard bytes.count >= count else { return nil }
        let value = bytes.prefix(count).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        bytes = bytes.dropFirst(count)
        return value
    }
}
