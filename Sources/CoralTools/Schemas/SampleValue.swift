import Coral
import GraphDocuments
import PredicateLanguage

/// Values of attributes for a sample document.
struct SampleValue {
    /// The number of the object, which makes its values different from those of other objects.
    let number: Int

    /// A value that satisfies the attribute's validation rules, if one of the candidates does; otherwise null for an
    /// optional attribute, else the first candidate.
    func value(of attribute: NSAttributeDescription) -> GraphValue {
        let schema = GraphSchema.Attribute(attribute)
        let plain = value(of: schema, label: attribute.name, isOptional: attribute.isOptional)
        let rules = attribute.validationPredicates
        guard !rules.isEmpty else { return plain }
        let constants = rules.compactMap { ($0 as? NSComparisonPredicate)?.rightExpression }
            .filter { $0.expressionType == .constantValue }.compactMap { $0.constantValue }
        // Foundation's evaluation ends the program if a model contains an invalid pattern.
        let tests = rules.map { try? PredicateEvaluator(PredicateParser.parse($0.predicateFormat)) }
        let candidates = [plain] + Self.candidates(for: plain, constants, number: number)
        let valid = candidates.first { candidate in
            candidate.scalarObject.map { object in tests.allSatisfy { (try? $0?.evaluate(object)) == true } } ?? false
        }
        return valid ?? (attribute.isOptional ? .null : plain)
    }

    private func value(of attribute: GraphSchema.Attribute, label: String, isOptional: Bool) -> GraphValue {
        switch attribute.type {
        case .integer16, .integer32, .integer64: return .integer(Int64(number))
        case .double: return .double(Double(number) + 0.5)
        case .float: return .float(Float(number) + 0.5)
        case .decimal: return .decimal(Decimal(number * 100 + 99) / 100)
        case .boolean: return .bool(number % 2 == 1)
        case .string: return .string("\(label) \(number)")
        // Consecutive days from 1 March 2024.
        case .date: return .date(730_902_600 + Double(number) * 86400)
        case .binaryData: return .data(Data([1, 2, UInt8(truncatingIfNeeded: number)]))
        case .uuid:
            let digits = String(repeating: "0", count: max(0, 12 - "\(number)".count)) + "\(number)"
            return UUID(uuidString: "00000000-0000-4000-8000-\(digits)").map { .uuid($0) } ?? .null
        case .uri: return .uri("https://example.com/\(label)/\(number)")
        case .composite:
            return .composite(
                attribute.elements.map {
                    GraphAttribute(name: $0.name, value: value(of: $0, label: $0.name, isOptional: true))
                })
        case .transformable where !isOptional:
            return .transformable(
                TransformableValue(archive: nil, readable: .value(.string("\(label) \(number)"))))
        case .transformable, .undefined, .objectID: return .null
        }
    }

    // MARK: - Validation rules

    /// Values near the constants in the rules: the bounds of numbers and dates, texts of a bound's length, and texts in
    /// common forms, of which a pattern may accept one.
    private static func candidates(for value: GraphValue, _ constants: [Any], number: Int) -> [GraphValue] {
        let bounds = constants.compactMap { ($0 as? NSNumber)?.doubleValue }
        let steps = [Double(number), -Double(number), 0, 0.5]
        switch value {
        case .integer: return bounds.flatMap { bound in steps.map { .integer(Int64(clamping: bound + $0)) } }
        case .double: return bounds.flatMap { bound in steps.map { .double(bound + $0) } }
        case .float: return bounds.flatMap { bound in steps.map { .float(Float(bound + $0)) } }
        case .decimal: return bounds.flatMap { bound in steps.map { .decimal(Decimal(shortestOf: bound + $0)) } }
        case .date:
            let dates = constants.compactMap { ($0 as? Date)?.timeIntervalSinceReferenceDate }
            return dates.flatMap { date in steps.map { .date(date + $0 * 3600) } }
        case .string(let text):
            let lengths = bounds.filter { $0 >= 1 && $0 < 10_000 }.map(Int.init)
            // The number is at the end, and is kept in a shorter text.
            let fitting = lengths.map { length in
                text.count > length
                    ? String(text.suffix(length)) : text + String(repeating: "x", count: length - text.count)
            }
            let forms = [
                "\(number)", "a\(number)", "A\(number)", "someone\(number)@example.com",
                "https://example.com/\(number)",
                "+1 555 010\(number)", "2024-03-0\(number % 9 + 1)", "12:3\(number % 10)", "#00000\(number % 10)",
            ]
            return (fitting + forms).map { .string($0) }
        default: return []
        }
    }
}

extension Int64 {
    /// The nearest integer of a number; the greatest or smallest for one out of range.
    fileprivate init(clamping number: Double) {
        self = Int64(exactly: number.rounded(.towardZero)) ?? (number > 0 ? .max : .min)
    }
}
