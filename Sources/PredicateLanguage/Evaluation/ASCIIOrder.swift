import Foundation

/// Foundation's localised orders for printable ASCII, in English locales. Foundation makes a locale and two objects for each
/// comparison, which takes ten times as long; ``SortComparison/compareByFoundation(_:_:by:)`` is the rule.
///
/// Characters are compared by their weights in the collation. Of texts that differ in case only, the small letter comes first.
enum ASCIIOrder {
    /// Nil for other comparisons, other texts and other locales.
    static func compare(_ one: String, _ two: String, by name: String) -> ComparisonResult? {
        guard appliesToLocale else { return nil }
        let isNumeric: Bool
        let ignoresCase: Bool
        switch name {
        case "localizedStandardCompare:": (isNumeric, ignoresCase) = (true, false)
        case "localizedCompare:": (isNumeric, ignoresCase) = (false, false)
        case "localizedCaseInsensitiveCompare:": (isNumeric, ignoresCase) = (false, true)
        default: return nil
        }
        var (one, two) = (one, two)
        return one.withUTF8 { one in
            two.withUTF8 { two in
                weights.withUnsafeBufferPointer { weights in
                    guard areAllWeighed(one, weights), areAllWeighed(two, weights) else { return nil }
                    return compare(one, two, weights, isNumeric: isNumeric, ignoresCase: ignoresCase)
                }
            }
        }
    }

    /// Locales in which letters are compared one by one and in the order of the alphabet.
    private static let appliesToLocale: Bool = {
        let identifier = Locale.current.identifier
        return (identifier == "en" || identifier.hasPrefix("en_")) && !identifier.contains("POSIX")
            && !identifier.contains("@")
    }()

    /// The weights of characters; 0 for those with other rules.
    private static let weights: [UInt8] = {
        var weights = [UInt8](repeating: 0, count: 256)
        var weight: UInt8 = 1
        for byte in " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz".utf8 {
            weights[Int(byte)] = weight
            if UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte { weights[Int(byte - 0x20)] = weight }
            weight += 1
        }
        return weights
    }()

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private static func areAllWeighed(_ text: Bytes, _ weights: Bytes) -> Bool {
        for byte in text where weights[Int(byte)] == 0 { return false }
        return true
    }

    private static func compare(
        _ one: Bytes, _ two: Bytes, _ weights: Bytes, isNumeric: Bool, ignoresCase: Bool
    ) -> ComparisonResult? {
        var (index, other) = (0, 0)
        // The order if all weights are equal: that of the first difference.
        var lesser = ComparisonResult.orderedSame
        while index < one.count, other < two.count {
            let (left, right) = (one[index], two[other])
            if isNumeric, isDigit(left), isDigit(right) {
                guard let first = number(in: one, at: index), let second = number(in: two, at: other) else {
                    return nil
                }
                if first.value != second.value { return order(first.value, second.value) }
                if lesser == .orderedSame { lesser = order(first.end - index, second.end - other) }
                (index, other) = (first.end, second.end)
                continue
            }
            if left != right {
                let (weight, second) = (weights[Int(left)], weights[Int(right)])
                if weight != second { return order(weight, second) }
                // Small letters have the greater codes.
                if lesser == .orderedSame { lesser = order(right, left) }
            }
            index += 1
            other += 1
        }
        if index < one.count { return .orderedDescending }
        if other < two.count { return .orderedAscending }
        return ignoresCase ? .orderedSame : lesser
    }

    /// A number of digits; nil if it may exceed 64 bits.
    private static func number(in text: Bytes, at start: Int) -> (value: UInt64, end: Int)? {
        var value: UInt64 = 0
        var end = start
        while end < text.count, isDigit(text[end]) {
            value = value &* 10 &+ UInt64(text[end] - UInt8(ascii: "0"))
            end += 1
        }
        return end - start <= 18 ? (value, end) : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func order<Value: Comparable>(_ one: Value, _ two: Value) -> ComparisonResult {
        one < two ? .orderedAscending : one > two ? .orderedDescending : .orderedSame
    }
}
