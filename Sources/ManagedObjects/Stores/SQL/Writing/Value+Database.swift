import Foundation
import GRDB

extension Value {
    /// The value of a column for a slot of a kind.
    init(_ value: DatabaseValue, kind: EntityLayout.Slot.Kind) {
        switch (value.storage, kind) {
        case (.int64(let number), .double), (.int64(let number), .float), (.int64(let number), .date):
            self = .real(Double(number))
        case (.int64(let number), .decimal): self = .decimal(Decimal(number))
        case (.double(let number), .decimal): self = .decimal(Decimal(shortestOf: number))
        case (.int64(let number), _): self = .integer(number)
        case (.double(let number), .integer16), (.double(let number), .integer32), (.double(let number), .integer64):
            self = Int64(exactly: number.rounded(.towardZero)).map(Value.integer) ?? .null
        case (.double(let number), _): self = .real(number)
        case (.string(let text), .uri): self = URL(string: text).map { .object(ObjectValue($0)) } ?? .null
        case (.string(let text), _): self = .string(text)
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
                kind == .uri ? String(decoding: bytes, as: UTF8.self).databaseValue : bytes.databaseValue, kind: kind)
        }
    }
}
