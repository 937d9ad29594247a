import Foundation

/// The comparisons of sort descriptors, by the names of their methods.
package enum SortComparison {
    /// The order of two values by a named comparison. Nil comes first; values of kinds that cannot be ordered are
    /// treated as equal.
    package static func compare(_ one: PredicateValue, _ two: PredicateValue, by name: String) -> ComparisonResult {
        switch (one, two) {
        case (.null, .null): .orderedSame
        case (.null, _): .orderedAscending
        case (_, .null): .orderedDescending
        case (.string(let one), .string(let two)): compareStrings(one, two, by: name)
        case (.integer(let one), .integer(let two)): order(one, two)
        case (.date(let one), .date(let two)): order(one, two)
        case (.uuid(let one), .uuid(let two)): order(one.uuidString, two.uuidString)
        case (.url(let one), .url(let two)): orderOfBytes(one.absoluteString, two.absoluteString)
        case (.data(let one), .data(let two)):
            one == two ? .orderedSame : one.lexicographicallyPrecedes(two) ? .orderedAscending : .orderedDescending
        default: one.isNumber && two.isNumber ? compareNumbers(one, two) : .orderedSame
        }
    }

    /// The order of two strings. `compare:` compares the bytes in UTF-8, as SQLite's default collation does.
    package static func compareStrings(_ one: String, _ two: String, by name: String) -> ComparisonResult {
        // First, because it is the most frequent one.
        if name == "compare:" { return orderOfBytes(one, two) }
        return ASCIIOrder.compare(one, two, by: name) ?? compareByFoundation(one, two, by: name)
    }

    /// The rule, which ``ASCIIOrder`` follows.
    static func compareByFoundation(_ one: String, _ two: String, by name: String) -> ComparisonResult {
        switch name {
        case "caseInsensitiveCompare:": one.compare(two, options: .caseInsensitive)
        case "localizedCompare:": one.compare(two, locale: .current)
        case "localizedCaseInsensitiveCompare:": one.compare(two, options: .caseInsensitive, locale: .current)
        case "localizedStandardCompare:":
            one.compare(
                two, options: [.caseInsensitive, .numeric, .widthInsensitive, .forcedOrdering], locale: .current)
        default: orderOfBytes(one, two)
        }
    }

    private static func orderOfBytes(_ one: String, _ two: String) -> ComparisonResult {
        switch Order(ofBytes: one, two) {
        case .ascending: .orderedAscending
        case .descending: .orderedDescending
        case .same, .unordered: .orderedSame
        }
    }

    private static func compareNumbers(_ one: PredicateValue, _ two: PredicateValue) -> ComparisonResult {
        if one == two { return .orderedSame }  // exact across kinds
        if let one = exact(one), let two = exact(two) { return order(one, two) }
        return order(approximate(one), approximate(two))
    }

    private static func exact(_ value: PredicateValue) -> Decimal? {
        switch value {
        case .bool(let value): Decimal(value ? 1 : 0)
        case .integer(let value): Decimal(value)
        case .decimal(let value): value
        default: nil
        }
    }

    private static func approximate(_ value: PredicateValue) -> Double {
        switch value {
        case .bool(let value): value ? 1 : 0
        case .integer(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
        default: .nan
        }
    }

    private static func order<Value: Comparable>(_ one: Value, _ two: Value) -> ComparisonResult {
        one < two ? .orderedAscending : one > two ? .orderedDescending : .orderedSame
    }
}
