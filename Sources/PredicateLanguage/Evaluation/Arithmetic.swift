import Foundation

/// Arithmetic on values. Integers give integers if the result is one and fits, decimals stay exact, and nil gives
/// nil.
enum Arithmetic {
    /// The result of a function of two numbers. In arithmetic with a date, numbers are seconds.
    static func apply(
        _ function: KnownFunction, _ left: PredicateValue, _ right: PredicateValue
    ) throws -> PredicateValue {
        switch (left, right) {
        case (.null, _), (_, .null): return .null
        case (.date(let left), .date(let right)) where function == .subtract:
            return .double(left.timeIntervalSince(right))
        case (.date(let date), _) where function == .add && right.isNumber:
            return .date(date.addingTimeInterval(try double(right)))
        case (_, .date(let date)) where function == .add && left.isNumber:
            return .date(date.addingTimeInterval(try double(left)))
        case (.date(let date), _) where function == .subtract && right.isNumber:
            return .date(date.addingTimeInterval(-(try double(right))))
        default: break
        }
        if let left = try whole(left), let right = try whole(right) {
            if let result = try whole(function, left, right) { return .integer(result) }
        } else if isDecimal(left) || isDecimal(right), let left = decimal(left), let right = decimal(right) {
            if let result = try decimal(function, left, right) { return .decimal(result) }
        }
        return try double(function, try double(left), try double(right))
    }

    /// The result for integers; nil when it is not an integer or overflows, so that doubles are used.
    private static func whole(_ function: KnownFunction, _ left: Int64, _ right: Int64) throws -> Int64? {
        if right == 0, function == .divide || function == .modulus {
            throw PredicateEvaluationError(.arithmetic, "An integer cannot be divided by zero.")
        }
        switch function {
        case .add: return exact(left.addingReportingOverflow(right))
        case .subtract: return exact(left.subtractingReportingOverflow(right))
        case .multiply: return exact(left.multipliedReportingOverflow(by: right))
        case .divide: return exact(left.dividedReportingOverflow(by: right))
        case .modulus: return right == -1 ? 0 : left % right
        case .power: return power(left, right)
        case .bitwiseAnd: return left & right
        case .bitwiseOr: return left | right
        case .bitwiseXor: return left ^ right
        case .leftShift: return left << right
        case .rightShift: return left >> right
        default: return nil
        }
    }

    private static func exact(_ result: (partialValue: Int64, overflow: Bool)) -> Int64? {
        result.overflow ? nil : result.partialValue
    }

    private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
        if exponent < 0 { return nil }
        if base == 0 || base == 1 { return exponent == 0 ? 1 : base }
        if base == -1 { return exponent % 2 == 0 ? 1 : -1 }
        var result: Int64 = 1
        // At most 63 rounds: any base other than 0, 1 and -1 overflows by then.
        for _ in 0..<min(exponent, 64) {
            guard let next = exact(result.multipliedReportingOverflow(by: base)) else { return nil }
            result = next
        }
        return result
    }

    private static func decimal(_ function: KnownFunction, _ left: Decimal, _ right: Decimal) throws -> Decimal? {
        switch function {
        case .add: return left + right
        case .subtract: return left - right
        case .multiply: return left * right
        case .divide:
            if right.isZero { throw PredicateEvaluationError(.arithmetic, "A decimal cannot be divided by zero.") }
            return left / right
        default: return nil
        }
    }

    private static func double(_ function: KnownFunction, _ left: Double, _ right: Double) throws -> PredicateValue {
        switch function {
        case .add: .double(left + right)
        case .subtract: .double(left - right)
        case .multiply: .double(left * right)
        case .divide: .double(left / right)
        case .modulus: .double(left.truncatingRemainder(dividingBy: right))
        case .power: .double(pow(left, right))
        default: throw PredicateEvaluationError(.typeMismatch, "The operator takes integers only.")
        }
    }

    // MARK: - One number

    /// The negated number; any other value is returned unchanged.
    static func negated(_ value: PredicateValue) -> PredicateValue {
        switch value {
        case .bool(let flag): return .integer(flag ? -1 : 0)
        case .integer(let number): return number == .min ? .decimal(-Decimal(number)) : .integer(-number)
        case .double(let number): return .double(-number)
        // The least integer is written as a minus sign before a number that does not fit an integer.
        case .decimal(let number): return number == -Decimal(Int64.min) ? .integer(.min) : .decimal(-number)
        default: return value
        }
    }

    /// Rounds a number; integers are returned unchanged.
    static func rounded(
        _ value: PredicateValue, _ rule: FloatingPointRoundingRule, _ mode: NSDecimalNumber.RoundingMode
    ) throws -> PredicateValue {
        switch value {
        case .decimal(let number): .decimal(round(number, mode))
        case .double(let number): .double(number.rounded(rule))
        default: try checked(value)
        }
    }

    /// The number without its fraction.
    static func truncated(_ value: PredicateValue) throws -> PredicateValue {
        let isNegative = PredicateValue.compareNumbers(value, .integer(0)) == .ascending
        return try rounded(value, .towardZero, isNegative ? .up : .down)
    }

    /// The number without its sign.
    static func absolute(_ value: PredicateValue) throws -> PredicateValue {
        let isNegative = PredicateValue.compareNumbers(try checked(value), .integer(0)) == .ascending
        return isNegative ? negated(value) : value
    }

    /// An integer from 0 up to, but not including, a limit; 0 for a limit below 1.
    static func random(below limit: PredicateValue) throws -> PredicateValue {
        if limit.isNull { return .null }
        let limit = Int64(exactly: try double(limit).rounded(.down)) ?? .max
        return .integer(limit < 1 ? 0 : .random(in: 0..<limit))
    }

    private static func round(_ value: Decimal, _ mode: NSDecimalNumber.RoundingMode) -> Decimal {
        var source = value
        var result = Decimal()
        NSDecimalRound(&result, &source, 0, mode)
        return result
    }

    /// Returns nil or a number, and throws for any other value.
    static func checked(_ value: PredicateValue) throws -> PredicateValue {
        if value.isNull || value.isNumber { return value }
        throw PredicateEvaluationError(.typeMismatch, "Expected a number, found \(value.kind).")
    }

    /// The number as a double.
    static func double(_ value: PredicateValue) throws -> Double {
        switch value {
        case .bool(let flag): return flag ? 1 : 0
        case .integer(let number): return Double(number)
        case .double(let number): return number
        case .decimal(let number): return number.nearestDouble
        default: throw PredicateEvaluationError(.typeMismatch, "Expected a number, found \(value.kind).")
        }
    }

    private static func whole(_ value: PredicateValue) throws -> Int64? {
        switch value {
        case .bool(let flag): return flag ? 1 : 0
        case .integer(let number): return number
        case .double, .decimal: return nil
        default: throw PredicateEvaluationError(.typeMismatch, "Expected a number, found \(value.kind).")
        }
    }

    private static func isDecimal(_ value: PredicateValue) -> Bool {
        if case .decimal = value { true } else { false }
    }

    private static func decimal(_ value: PredicateValue) -> Decimal? {
        switch value {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): Decimal(number)
        case .decimal(let number): number
        case .double(let number): Decimal(string: "\(number)")
        default: nil
        }
    }
}
