import Foundation
import SQLStores

extension Value {
    /// The value of a column for a slot of a kind.
    init(_ value: ColumnValue, kind: EntityLayout.Slot.Kind) {
        switch (value, kind) {
        case (.integer(let number), .double), (.integer(let number), .float), (.integer(let number), .date):
            self = .real(Double(number))
        case (.integer(let number), .decimal): self = .decimal(Decimal(number))
        case (.real(let number), .decimal): self = .decimal(Decimal(shortestOf: number))
        case (.integer(let number), _): self = .integer(number)
        case (.real(let number), .integer16), (.real(let number), .integer32), (.real(let number), .integer64):
            self = Int64(exactly: number.rounded(.towardZero)).map(Value.integer) ?? .null
        case (.real(let number), _): self = .real(number)
        case (.text(let text), .uri): self = URL(string: text).map { .object(ObjectValue($0)) } ?? .null
        case (.text(let text), _): self = .string(text)
        case (.blob(let data), .uuid) where data.count == 16:
            self = .uuid(UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case (.blob(let data), _): self = .data(data)
        case (.null, _): self = .null
        }
    }

    /// The value whose bytes are in a column for values of all types.
    init(bytes: Data?, kind: EntityLayout.Slot.Kind) {
        guard let bytes else {
            self = .null
            return
        }
        let number =
            bytes.count == 8 ? bytes.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) } : nil
        switch kind {
        case .integer16, .integer32, .integer64, .boolean, .toOne, .position:
            self = number.map { .integer(Int64(bitPattern: $0)) } ?? .null
        case .double, .float, .date: self = number.map { .real(Double(bitPattern: $0)) } ?? .null
        case .decimal: self = number.map { .decimal(Decimal(shortestOf: Double(bitPattern: $0))) } ?? .null
        case .string: self = .string(String(decoding: bytes, as: UTF8.self))
        default:
            self = Value(
                kind == .uri ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes), kind: kind)
        }
    }
}
