import Foundation

/// The aggregate functions over the values of a collection. Nil values are ignored.
enum Statistics {
    /// The sum; 0 for no values.
    static func sum(_ values: [PredicateValue]) throws -> PredicateValue {
        try values.reduce(.integer(0)) { sum, value in
            value.isNull ? sum : try Arithmetic.apply(.add, sum, value)
        }
    }

    /// The mean; nil for no values.
    static func average(_ values: [PredicateValue]) throws -> PredicateValue {
        let values = values.filter { !$0.isNull }
        if values.isEmpty { return .null }
        let sum = try sum(values)
        if case .decimal = sum { return try Arithmetic.apply(.divide, sum, .integer(Int64(values.count))) }
        return .double(try Arithmetic.double(sum) / Double(values.count))
    }

    /// The least value; nil for no values.
    static func minimum(_ values: [PredicateValue]) throws -> PredicateValue {
        try extreme(values, .ascending)
    }

    /// The greatest value; nil for no values.
    static func maximum(_ values: [PredicateValue]) throws -> PredicateValue {
        try extreme(values, .descending)
    }

    private static func extreme(_ values: [PredicateValue], _ wanted: Order) throws -> PredicateValue {
        var result = PredicateValue.null
        for value in values where !value.isNull {
            if result.isNull {
                result = value
                continue
            }
            guard let order = PredicateValue.order(value, result) else {
                throw PredicateEvaluationError(
                    .typeMismatch, "There is no order between \(value.kind) and \(result.kind).")
            }
            if order == wanted { result = value }
        }
        return result
    }

    /// The median; the mean of the two middle values for an even number of values.
    static func median(_ values: [PredicateValue]) throws -> PredicateValue {
        let numbers = try doubles(values).sorted()
        if numbers.isEmpty { return .null }
        let middle = numbers.count / 2
        return .double(numbers.count % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2)
    }

    /// The most frequent values, as a collection.
    static func mode(_ values: [PredicateValue]) -> PredicateValue {
        var counts: [PredicateValue: Int] = [:]
        for value in values where !value.isNull {
            counts[value, default: 0] += 1
        }
        let highest = counts.values.max()
        return .collection(distinct(values).filter { counts[$0] == highest && !$0.isNull }, ordered: true)
    }

    /// The population standard deviation of the values.
    static func standardDeviation(_ values: [PredicateValue]) throws -> PredicateValue {
        let numbers = try doubles(values)
        if numbers.isEmpty { return .null }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return .double((squares / Double(numbers.count)).squareRoot())
    }

    /// Each value once, in the order in which they first appear.
    static func distinct(_ values: [PredicateValue]) -> [PredicateValue] {
        var seen: Set<PredicateValue> = []
        return values.filter { seen.insert($0).inserted }
    }

    private static func doubles(_ values: [PredicateValue]) throws -> [Double] {
        try values.filter { !$0.isNull }.map(Arithmetic.double)
    }
}
