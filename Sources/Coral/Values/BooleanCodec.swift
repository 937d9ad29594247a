import CoreData
import GraphDocuments

/// Booleans. A column contains 0 or 1; other programs also store other numbers for true.
struct BooleanCodec: AttributeCodec {
    func value(of object: Any) -> GraphValue? { (object as? NSNumber).map { .bool($0.boolValue) } }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .bool(let flag) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return NSNumber(value: flag)
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        switch value {
        case .integer(0), .double(0), .float(0): return .bool(false)
        case .integer(1), .double(1), .float(1): return .bool(true)
        case .string(let text):
            switch text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased() {
            case "true", "yes", "1": return .bool(true)
            case "false", "no", "0": return .bool(false)
            default: return nil
            }
        default: return nil
        }
    }
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects

    extension BooleanCodec: RowCodec {
        var canIdentify: Bool { true }

        func read(_ column: Int32, of row: RowCursor) -> GraphValue { .bool(row.integer(column) != 0) }

        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
            try writer.bool(row.integer(column) != 0)
        }

        func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
            guard case .bool(let flag) = value else { return false }
            rows.set(Int64(flag ? 1 : 0), row, slot)
            return true
        }

        func isSame(
            _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
        ) -> Bool {
            (found.integer(slot) != 0) == (given.integer(row, slot) != 0)
        }
    }
#endif
