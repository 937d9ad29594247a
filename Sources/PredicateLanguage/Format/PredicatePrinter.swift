import Foundation

// The texts are those of Apple's `predicateFormat`, with two exceptions, where Apple's cannot be parsed again: UUIDs,
// URLs and data are printed as casts of strings, and keys that are not identifiers are quoted after `#`.

extension PredicateNode {
    /// The text of the predicate. Parsing it gives an equal tree, unless it contains an opaque node or a constant
    /// object.
    public var predicateFormat: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): comparison.predicateFormat
        case .and(let parts): PredicateNode.join(parts, " AND ", whenEmpty: true)
        case .or(let parts): PredicateNode.join(parts, " OR ", whenEmpty: false)
        case .not(let part): "NOT \(part.partFormat)"
        case .opaque(let predicate): predicate.predicateFormat
        }
    }

    private static func join(_ parts: [PredicateNode], _ separator: String, whenEmpty: Bool) -> String {
        if parts.isEmpty { return PredicateNode.constant(whenEmpty).predicateFormat }
        return parts.count == 1 ? parts[0].predicateFormat : parts.map(\.partFormat).joined(separator: separator)
    }

    /// The text as a part of a compound: every compound of several parts is parenthesised.
    private var partFormat: String {
        switch self {
        case .and(let parts) where parts.count == 1, .or(let parts) where parts.count == 1: parts[0].partFormat
        case .and(let parts) where !parts.isEmpty, .or(let parts) where !parts.isEmpty: "(\(predicateFormat))"
        default: predicateFormat
        }
    }
}

extension ComparisonNode {
    /// The text of the comparison.
    public var predicateFormat: String {
        let quantifier =
            switch modifier {
            case .direct: ""
            case .all: "ALL "
            case .any: "ANY "
            }
        return "\(quantifier)\(left.predicateFormat) \(operation.symbol)\(options.format) \(right.predicateFormat)"
    }
}

extension ComparisonOptions {
    /// The letters in brackets; empty without options.
    var format: String {
        let letters =
            [(ComparisonOptions.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n")]
            + [(.localeSensitive, "l")]
        let present = letters.filter { contains($0.0) }.map(\.1).joined()
        return present.isEmpty ? "" : "[\(present)]"
    }
}

extension ExpressionNode {
    /// The text of the expression, such as `SUBQUERY(items, $i, $i.price > 3).@count`.
    public var predicateFormat: String {
        switch self {
        case .constant(let constant):
            constant.isNullObject ? PredicateValue.nullObject : PredicateValue(constant.value).predicateFormat
        case .evaluatedObject: "SELF"
        case .variable(let name): "$\(name)"
        case .keyPath(let base, let keys):
            (base == .evaluatedObject ? "" : "\(base.operandFormat).")
                + keys.map(Self.format(ofKey:)).joined(separator: ".")
        case .element(let base, let index): "\(base.operandFormat)[\(index.predicateFormat)]"
        case .function(let selector, let arguments): Self.format(of: selector, arguments)
        case .call(let receiver, let selector, let arguments):
            "FUNCTION(\(Self.list([receiver, .constant(value: selector)] + arguments)))"
        case .aggregate(let elements): "{\(Self.list(elements))}"
        case .subquery(let collection, let variable, let predicate):
            "SUBQUERY(\(collection.predicateFormat), $\(variable), \(predicate.predicateFormat))"
        case .setOperation(let operation, let left, let right):
            Self.format(of: BinaryOperator(rawValue: operation.rawValue) ?? .union, left, right)
        case .conditional(let predicate, let then, let otherwise):
            "TERNARY(\(predicate.predicateFormat), \(Self.list([then, otherwise])))"
        case .fetch(let request, let context, let countOnly):
            "FETCH(\(Self.list([request, context])), \(countOnly ? "YES" : "NO"))"
        case .anyKey: "ANYKEY"
        case .opaque(let expression): expression.predicateFormat
        }
    }

    private static func list(_ expressions: [ExpressionNode]) -> String {
        expressions.map(\.predicateFormat).joined(separator: ", ")
    }

    // MARK: - Functions and operators

    private static func format(of selector: String, _ arguments: [ExpressionNode]) -> String {
        if arguments.count == 2, let operation = BinaryOperator(selector: selector) {
            return format(of: operation, arguments[0], arguments[1])
        }
        switch (selector, arguments.count) {
        case (KnownFunction.cast.rawValue, 2): return "CAST(\(list(arguments)))"
        case (KnownFunction.changeSign.rawValue, 1): return "-\(arguments[0].signedFormat)"
        case (KnownFunction.onesComplement.rawValue, 1): return "~\(arguments[0].signedFormat)"
        default: return "\(selector)(\(list(arguments)))"
        }
    }

    private static func format(of operation: BinaryOperator, _ left: ExpressionNode, _ right: ExpressionNode) -> String
    {
        let first = left.format(inside: operation.precedence)
        let second = right.format(inside: operation.precedence + 1)
        return "\(first) \(operation.rawValue) \(second)"
    }

    private var binaryOperator: BinaryOperator? {
        switch self {
        case .function(let selector, let arguments) where arguments.count == 2: BinaryOperator(selector: selector)
        case .setOperation(let operation, _, _): BinaryOperator(rawValue: operation.rawValue)
        default: nil
        }
    }

    /// The text as an operand of an operator of the given precedence.
    private func format(inside precedence: Int) -> String {
        let needsParentheses = binaryOperator.map { $0.precedence < precedence } ?? false
        return needsParentheses ? "(\(predicateFormat))" : predicateFormat
    }

    /// The text after a sign. Consecutive signs are printed without parentheses, which would nest deeper than the tree
    /// does.
    private var signedFormat: String {
        switch self {
        case .function(KnownFunction.changeSign.rawValue, _), .function(KnownFunction.onesComplement.rawValue, _):
            predicateFormat
        default: operandFormat
        }
    }

    /// The text before a key or an index, and after a sign. A number is parenthesised in both positions.
    private var operandFormat: String {
        switch self {
        case .constant(let constant):
            switch PredicateValue(constant.value) {
            case .string, .collection: predicateFormat
            default: "(\(predicateFormat))"
            }
        case .function(KnownFunction.changeSign.rawValue, _), .function(KnownFunction.onesComplement.rawValue, _):
            "(\(predicateFormat))"
        default: binaryOperator == nil ? predicateFormat : "(\(predicateFormat))"
        }
    }

    // MARK: - Keys

    private static func format(ofKey key: String) -> String {
        let name = key.hasPrefix("@") ? key.dropFirst() : key[...]
        let isWord = name.utf8.enumerated().allSatisfy { index, byte in
            let letter = byte | 0x20
            let isLetter = letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z") || byte >= 0x80
            let isDigit = byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
            return isLetter || byte == UInt8(ascii: "_") || index > 0 && isDigit
        }
        if !isWord || name.isEmpty { return "#\(PredicateValue.quote(key))" }
        return ReservedWord(text: key) == nil ? key : "#\(key)"
    }
}

extension CollectionIndex {
    fileprivate var predicateFormat: String {
        switch self {
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        case .at(let index): index.predicateFormat
        }
    }
}

// MARK: - Numbers of single precision

extension PredicateNode {
    /// The format for people: as `predicateFormat`, but a `Float` has its own digits, 0.1, as in Apple's text, and not those of the
    /// double that it is compared as, 0.10000000149011612. Read again, it is another number.
    public var shortFormat: String { mapExpressions(\.withShortNumbers).predicateFormat }
}

extension ExpressionNode {
    /// The text for people: see ``PredicateNode/shortFormat``.
    public var shortFormat: String { mapExpressions(\.withShortNumbers).predicateFormat }

    fileprivate var withShortNumbers: ExpressionNode {
        guard case .constant(let constant) = self, let value = constant.value, let short = Self.short(value) else {
            return self
        }
        return .constant(ConstantValue(short))
    }

    /// Numbers of single precision as the doubles with the same digits; nil for other values.
    private static func short(_ value: Any) -> Any? {
        func double(_ number: Float) -> Double { Double(number.description) ?? Double(number) }
        switch value {
        case let number as NSNumber where type(of: value) is AnyClass:
            return number.objCType.pointee == CChar(bitPattern: UInt8(ascii: "f")) ? double(number.floatValue) : nil
        case let number as Float where type(of: value) == Float.self: return double(number)
        case let numbers as [Float] where !numbers.isEmpty: return numbers.map(double)
        case let numbers as Set<Float> where !numbers.isEmpty: return Set(numbers.map(double))
        default: return nil
        }
    }
}

// MARK: - Archives

extension PredicateNode {
    /// The format for archives: as `predicateFormat`, but with all digits of dates and decimal numbers. Read again, it is the same tree.
    package var exactFormat: String { mapExpressions(\.withAllDigits).predicateFormat }
}

extension ExpressionNode {
    /// The format for archives: see ``PredicateNode/exactFormat``.
    package var exactFormat: String { mapExpressions(\.withAllDigits).predicateFormat }

    fileprivate var withAllDigits: ExpressionNode {
        guard case .constant(let constant) = self else { return self }
        return Self.exact(PredicateValue(constant.value)) ?? self
    }

    /// The expression of a value whose own text has not all of its digits; nil for another value.
    private static func exact(_ value: PredicateValue) -> ExpressionNode? {
        func cast(_ value: Any, _ type: String) -> ExpressionNode {
            .function(KnownFunction.cast.rawValue, arguments: [.constant(value: value), .constant(value: type)])
        }
        switch value {
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            return Double(String(format: "%f", seconds)) == seconds ? nil : cast(seconds, "NSDate")
        case .decimal(let number) where !number.isNaN && Int64(number.description) == nil:
            return cast(number.description, ConstantCast.decimal)
        case .collection(let elements, _):
            let texts = elements.map(exact)
            guard texts.contains(where: { $0 != nil }) else { return nil }
            return .aggregate(zip(elements, texts).map { $1 ?? .constant(value: $0.isNull ? NSNull() : $0) })
        default: return nil
        }
    }
}
