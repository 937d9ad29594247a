import CoreData
import GraphDocuments

/// Integers of 16, 32 and 64 bits.
package struct IntegerCodec: AttributeCodec {
    private let range: ClosedRange<Int64>?

    package init(_ type: GraphValueType) { range = type.integerRange }

    package func value(of object: Any) -> GraphValue? { (object as? NSNumber).map { .integer($0.int64Value) } }

    package func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .integer(let number) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return NSNumber(value: number)
    }

    package func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        let number: Int64? =
            switch value {
            case .integer(let value): value
            case .bool(let value): value ? 1 : 0
            case .double(let value): Int64(exactly: value)
            case .float(let value): Int64(exactly: value)
            case .decimal(let value): Int64(value.description)
            case .string(let text): Self.number(text)
            default: nil
            }
        guard let number, range?.contains(number) ?? true else { return nil }
        return .integer(number)
    }

    private static func number(_ text: String) -> Int64? {
        guard case .integer(let number)? = TextValue.number(text, as: .integer64) else { return nil }
        return number
    }
}

/// Booleans. A column contains 0 or 1; other programs also store other numbers for true.
package struct BooleanCodec: AttributeCodec {
    package func value(of object: Any) -> GraphValue? { (object as? NSNumber).map { .bool($0.boolValue) } }

    package func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .bool(let flag) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return NSNumber(value: flag)
    }

    package func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
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

/// Numbers of double precision.
package struct DoubleCodec: AttributeCodec {
    package func value(of object: Any) -> GraphValue? { (object as? NSNumber).map { .double($0.doubleValue) } }

    package func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .double(let number) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return NSNumber(value: number)
    }

    package func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        Self.number(value).map { .double($0) }
    }

    package func isSame(_ stored: GraphValue, _ given: GraphValue, by equality: ValueEquality) -> Bool {
        if equality.isOfSQLite, case .double(let one) = stored, case .double(let two) = given, one == two {
            return true
        }
        return stored == given
    }

    /// The number that a value of any type represents.
    package static func number(_ value: GraphValue) -> Double? {
        switch value {
        case .double(let value): value
        case .float(let value): Double(value)
        case .integer(let value): Double(exactly: value)
        case .decimal(let value): Double(value.description)
        case .string(let text):
            if case .double(let value)? = TextValue.number(text, as: .double) { value } else { nil }
        default: nil
        }
    }
}

/// Numbers of single precision. Columns contain them as doubles.
package struct FloatCodec: AttributeCodec {
    package func value(of object: Any) -> GraphValue? { (object as? NSNumber).map { .float($0.floatValue) } }

    package func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .float(let number) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return NSNumber(value: number)
    }

    package func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        if case .string(let text) = value { return TextValue.number(text, as: .float) }
        guard let double = DoubleCodec.number(value) else { return nil }
        let float = Float(double)
        return float.isFinite || !double.isFinite ? .float(float) : nil
    }

    package func isSame(_ stored: GraphValue, _ given: GraphValue, by equality: ValueEquality) -> Bool {
        if equality.isOfSQLite, case .float(let one) = stored, case .float(let two) = given, one == two { return true }
        return stored == given
    }
}

/// Decimal numbers. SQLite and PostgreSQL stores keep them as doubles; other programs also as text.
package struct DecimalCodec: AttributeCodec {
    /// The form in documents of the plain layout.
    package var form: PlainLayout.DecimalForm

    package init(form: PlainLayout.DecimalForm = .number) { self.form = form }

    package func value(of object: Any) -> GraphValue? { (object as? NSDecimalNumber).map { .decimal($0.decimalValue) } }

    package func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .decimal(let number) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return NSDecimalNumber(decimal: number)
    }

    package func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        let text: String? =
            switch value {
            case .integer(let value): String(value)
            // By the shortest decimal text, not by the exact binary fraction.
            case .double(let value) where value.isFinite: value.description
            case .float(let value) where value.isFinite: value.description
            case .string(let text): text
            default: nil
            }
        return text.flatMap { TextValue.number($0, as: .decimal) }
    }

    package func isSame(_ stored: GraphValue, _ given: GraphValue, by equality: ValueEquality) -> Bool {
        if stored == given { return true }
        guard equality.comparesDecimalsAsDoubles, case .decimal(let one) = stored, case .decimal(let two) = given else {
            return false
        }
        // The nearest double of the decimal text, which is what a store contains.
        return Double(one.description) == Double(two.description)
    }
}
