import CoreData
import GraphDocuments

/// Converts values of documents to the declared type.
///
/// Values of the declared type are not converted. In strict mode all others are refused. Otherwise lossless conversions
/// are made: numbers in strings and strings for numbers; integers, decimals and fractions into each other; 0, 1,
/// "true", "false", "yes", "no" into booleans; numbers and strings into dates (see `ImportOptions`); Base64 into data;
/// text into UUIDs and URIs; any plain value into a transformable one.
struct ValueConversion {
    let isStrict: Bool
    let numericDates: NumericDates
    private let dates: DateFormats

    init(_ options: ImportOptions) {
        isStrict = options.isStrict
        numericDates = options.numericDates
        dates = DateFormats(options.dateFormats + DateFormats.usual)
    }

    /// The value converted to the attribute's type; nil if it cannot be converted.
    func convert(_ value: GraphValue, to attribute: GraphSchema.Attribute) -> GraphValue? {
        if case .composite(let elements) = value, attribute.type == .composite {
            return composite(elements, attribute)
        }
        if value.fits(attribute.type) { return value }
        guard !isStrict else { return nil }
        return switch attribute.type {
        case .integer16, .integer32, .integer64: integer(value, in: attribute.type.integerRange)
        case .boolean: boolean(value)
        case .double: ValueConversion.double(value).map { .double($0) }
        case .float: ValueConversion.float(value)
        case .decimal: decimal(value)
        case .string: string(value)
        case .date: date(value)
        case .uuid: uuid(value)
        case .uri, .objectID: text(value).map { .uri($0) }
        case .binaryData: text(value).flatMap { Data(base64Encoded: $0) }.map { .data($0) }
        case .transformable: transformable(value)
        case .undefined: value
        case .composite: nil
        }
    }

    private func composite(_ elements: [GraphAttribute], _ attribute: GraphSchema.Attribute) -> GraphValue? {
        var converted: [GraphAttribute] = []
        for declared in attribute.elements {
            guard let element = elements.first(where: { $0.name == declared.name }) else { continue }
            guard let value = convert(element.value, to: declared) else { return nil }
            converted.append(GraphAttribute(name: declared.name, value: value))
        }
        return .composite(converted)
    }

    // MARK: - Numbers

    private func integer(_ value: GraphValue, in range: ClosedRange<Int64>?) -> GraphValue? {
        let number: Int64? =
            switch value {
            case .integer(let value): value
            case .bool(let value): value ? 1 : 0
            case .double(let value): Int64(exactly: value)
            case .float(let value): Int64(exactly: value)
            case .decimal(let value): Int64(value.description)
            case .string(let text): Int64(trimmed(text)) ?? Double(trimmed(text)).flatMap { Int64(exactly: $0) }
            default: nil
            }
        guard let number, range?.contains(number) ?? true else { return nil }
        return .integer(number)
    }

    private func boolean(_ value: GraphValue) -> GraphValue? {
        switch value {
        case .integer(0), .double(0), .float(0): return .bool(false)
        case .integer(1), .double(1), .float(1): return .bool(true)
        case .string(let text):
            switch trimmed(text).lowercased() {
            case "true", "yes", "1": return .bool(true)
            case "false", "no", "0": return .bool(false)
            default: return nil
            }
        default: return nil
        }
    }

    private static func double(_ value: GraphValue) -> Double? {
        switch value {
        case .double(let value): value
        case .float(let value): Double(value)
        case .integer(let value): Double(exactly: value)
        case .decimal(let value): Double(value.description)
        case .string(let text): Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
        default: nil
        }
    }

    private static func float(_ value: GraphValue) -> GraphValue? {
        if case .string(let text) = value { return Float(text.trimmingCharacters(in: .whitespaces)).map { .float($0) } }
        guard let double = double(value) else { return nil }
        let float = Float(double)
        return float.isFinite || !double.isFinite ? .float(float) : nil
    }

    private func decimal(_ value: GraphValue) -> GraphValue? {
        let text: String? =
            switch value {
            case .integer(let value): String(value)
            // By the shortest decimal text, not by the exact binary fraction.
            case .double(let value) where value.isFinite: value.description
            case .float(let value) where value.isFinite: value.description
            case .string(let text): trimmed(text)
            default: nil
            }
        guard let text, Double(text) != nil, let decimal = Decimal(string: text, locale: nil) else { return nil }
        return .decimal(decimal)
    }

    // MARK: - Text

    private func string(_ value: GraphValue) -> GraphValue? {
        switch value {
        case .integer(let value): .string(String(value))
        case .double(let value): .string(Int64(exactly: value).map { String($0) } ?? value.description)
        case .float(let value): .string(value.description)
        case .decimal(let value): .string(value.description)
        case .bool(let value): .string(value ? "true" : "false")
        case .uuid(let value): .string(value.uuidString)
        case .uri(let value): .string(value)
        default: nil
        }
    }

    private func uuid(_ value: GraphValue) -> GraphValue? {
        switch value {
        case .string(let text): return UUID(uuidString: trimmed(text)).map { .uuid($0) }
        case .data(let data) where data.count == 16:
            let bytes = Array(data)
            return bytes.withUnsafeBytes { .uuid(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
        default: return nil
        }
    }

    private func text(_ value: GraphValue) -> String? {
        if case .string(let text) = value { text } else { nil }
    }

    private func transformable(_ value: GraphValue) -> GraphValue? {
        if case .data(let data) = value { return .transformable(TransformableValue(archive: data)) }
        return .transformable(TransformableValue(archive: nil, readable: .value(value)))
    }

    private func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }

    // MARK: - Dates

    private func date(_ value: GraphValue) -> GraphValue? {
        switch value {
        case .string(let text):
            let text = trimmed(text)
            if let seconds = dates.seconds(text) { return .date(seconds) }
            return Double(text).flatMap { epoch($0) }
        default:
            return ValueConversion.double(value).flatMap { epoch($0) }
        }
    }

    private func epoch(_ number: Double) -> GraphValue? {
        guard number.isFinite else { return nil }
        switch numericDates {
        case .reference: return .date(number)
        case .unix:
            // In seconds these are dates past the year 5138; milliseconds are far more likely.
            let seconds = abs(number) >= 1e11 ? number / 1000 : number
            return .date(Date(timeIntervalSince1970: seconds).timeIntervalSinceReferenceDate)
        case .refused: return nil
        }
    }
}
