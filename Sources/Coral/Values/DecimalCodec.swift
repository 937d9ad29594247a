import CoreData
import GraphDocuments

/// Decimal numbers. SQLite and PostgreSQL stores keep them as doubles; other programs also as text.
struct DecimalCodec: AttributeCodec {
    /// The form in documents of the plain layout.
    var form = PlainLayout.DecimalForm.number

    func value(of object: Any) -> GraphValue? { (object as? NSDecimalNumber).map { .decimal($0.decimalValue) } }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .decimal(let number) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return NSDecimalNumber(decimal: number)
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        let text: String? =
            switch value {
            case .integer(let value): String(value)
            // By the shortest decimal text, not by the exact binary fraction.
            case .double(let value) where value.isFinite: value.description
            case .float(let value) where value.isFinite: value.description
            case .string(let text): text.trimmingCharacters(in: .whitespacesAndNewlines)
            default: nil
            }
        guard let text, Double(text) != nil, let decimal = Decimal(string: text, locale: nil) else { return nil }
        return .decimal(decimal)
    }

    func isSame(_ stored: GraphValue, _ given: GraphValue, by equality: ValueEquality) -> Bool {
        if stored == given { return true }
        guard equality.comparesDecimalsAsDoubles, case .decimal(let one) = stored, case .decimal(let two) = given else {
            return false
        }
        // The nearest double of the decimal text, which is what a store contains.
        return Double(one.description) == Double(two.description)
    }
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects

    extension DecimalCodec: RowCodec {
        func read(_ column: Int32, of row: RowCursor) -> GraphValue { .decimal(row.decimal(column) ?? .nan) }

        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
            try writer.decimal(row.decimal(column) ?? .nan, asNumber: form == .number)
        }

        func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
            guard case .decimal(let number) = value, !number.isNaN else { return false }
            rows.set(number, row, slot)
            return true
        }

        func isSame(
            _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
        ) -> Bool {
            // SQLite converts text to a number.
            found.double(slot) == given.double(row, slot)
        }
    }
#endif
