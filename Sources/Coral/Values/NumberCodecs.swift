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
