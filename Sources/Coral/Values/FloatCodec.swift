import CoreData
import GraphDocuments

/// Numbers of single precision. Columns contain them as doubles.
struct FloatCodec: AttributeCodec {
    func value(of object: Any) -> GraphValue? { (object as? NSNumber).map { .float($0.floatValue) } }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .float(let number) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return NSNumber(value: number)
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        if case .string(let text) = value { return Float(text.trimmingCharacters(in: .whitespaces)).map { .float($0) } }
        guard let double = DoubleCodec.number(value) else { return nil }
        let float = Float(double)
        return float.isFinite || !double.isFinite ? .float(float) : nil
    }

    func isSame(_ stored: GraphValue, _ given: GraphValue, by equality: ValueEquality) -> Bool {
        if equality.isOfSQLite, case .float(let one) = stored, case .float(let two) = given, one == two { return true }
        return stored == given
    }
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects

    extension FloatCodec: RowCodec {
        func read(_ column: Int32, of row: RowCursor) -> GraphValue { .float(Float(row.double(column))) }

        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
            try writer.float(Float(row.double(column)))
        }

        func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
            // SQLite cannot store NaN.
            guard case .float(let number) = value, !number.isNaN else { return false }
            rows.set(Double(number), row, slot)
            return true
        }

        func isSame(
            _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
        ) -> Bool {
            Float(found.double(slot)) == Float(given.double(row, slot))
        }
    }
#endif
