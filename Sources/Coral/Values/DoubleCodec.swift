import CoreData
import GraphDocuments

/// Numbers of double precision.
struct DoubleCodec: AttributeCodec {
    func value(of object: Any) -> GraphValue? { (object as? NSNumber).map { .double($0.doubleValue) } }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .double(let number) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return NSNumber(value: number)
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        Self.number(value).map { .double($0) }
    }

    func isSame(_ stored: GraphValue, _ given: GraphValue, by equality: ValueEquality) -> Bool {
        if equality.isOfSQLite, case .double(let one) = stored, case .double(let two) = given, one == two {
            return true
        }
        return stored == given
    }

    /// The number that a value of any type represents.
    static func number(_ value: GraphValue) -> Double? {
        switch value {
        case .double(let value): value
        case .float(let value): Double(value)
        case .integer(let value): Double(exactly: value)
        case .decimal(let value): Double(value.description)
        case .string(let text): Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
        default: nil
        }
    }
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects

    extension DoubleCodec: RowCodec {
        func read(_ column: Int32, of row: RowCursor) -> GraphValue { .double(row.double(column)) }

        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
            try writer.double(row.double(column))
        }

        func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
            // SQLite cannot store NaN.
            guard case .double(let number) = value, !number.isNaN else { return false }
            rows.set(number, row, slot)
            return true
        }

        func isSame(
            _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
        ) -> Bool {
            found.double(slot) == given.double(row, slot)
        }
    }
#endif
