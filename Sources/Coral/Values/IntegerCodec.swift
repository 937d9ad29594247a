import CoreData
import GraphDocuments

/// Integers of 16, 32 and 64 bits.
struct IntegerCodec: AttributeCodec {
    private let range: ClosedRange<Int64>?

    init(_ type: GraphValueType) { range = type.integerRange }

    func value(of object: Any) -> GraphValue? { (object as? NSNumber).map { .integer($0.int64Value) } }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .integer(let number) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return NSNumber(value: number)
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        let number: Int64? =
            switch value {
            case .integer(let value): value
            case .bool(let value): value ? 1 : 0
            case .double(let value): Int64(exactly: value)
            case .float(let value): Int64(exactly: value)
            case .decimal(let value): Int64(value.description)
            case .string(let text): Self.number(text.trimmingCharacters(in: .whitespacesAndNewlines))
            default: nil
            }
        guard let number, range?.contains(number) ?? true else { return nil }
        return .integer(number)
    }

    private static func number(_ text: String) -> Int64? {
        Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
    }
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects

    extension IntegerCodec: RowCodec {
        var canIdentify: Bool { true }

        func read(_ column: Int32, of row: RowCursor) -> GraphValue { .integer(row.integer(column)) }

        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
            try writer.integer(row.integer(column))
        }

        func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
            guard case .integer(let number) = value else { return false }
            rows.set(number, row, slot)
            return true
        }

        func isSame(
            _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
        ) -> Bool {
            found.integer(slot) == given.integer(row, slot)
        }
    }
#endif
