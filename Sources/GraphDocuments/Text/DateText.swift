import Foundation

/// Dates as ISO 8601 in UTC, with full precision.
///
/// `2024-02-29T12:30:00.000Z` has three fraction digits at least. The calendar is that of Foundation's `ISO8601DateFormatter`
/// and `Date.ISO8601FormatStyle`: Gregorian from 1582-10-15, Julian before. `Date.distantPast` is `0001-01-01T00:00:00.000Z`.
/// Values without a calendar date (years outside 1 to 9999, -0.0, infinities, instants so close to 2001 that they need more than
/// 12 digits) are written as `@` and the seconds since 2001-01-01 00:00:00 UTC: `@1e-300`.
enum DateText {
    /// The maximum number of bytes of a date.
    static let longest = 48

    /// The days from 0000-03-01 to 2001-01-01 in the proleptic Gregorian calendar.
    private static let daysToReference: Int64 = 730_791
    /// The days from 0000-03-01 to 1582-10-15, the first day of the Gregorian calendar.
    private static let firstGregorianDay: Int64 = 578_041
    /// The days from 0000-03-01 in the Julian calendar to that in the Gregorian calendar.
    private static let julianOffset: Int64 = 2
    /// 0001-01-01 in the Julian calendar and 10000-01-01 as seconds since 2001.
    private static let first: Int64 = -63_114_076_800
    private static let end: Int64 = 252_423_993_600

    // MARK: - Writing

    /// Writes a date and returns the position after it.
    static func write(_ seconds: Double, at start: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        guard seconds >= Double(first), seconds < Double(end), seconds != 0 || seconds.sign == .plus else {
            return writeExactly(seconds, at: start)
        }
        let thousandths = (seconds * 1e3).rounded()
        if thousandths / 1e3 == seconds { return write(Int64(thousandths), decimals: 3, at: start) }
        let millionths = (seconds * 1e6).rounded()
        if millionths.magnitude < 9e15, millionths / 1e6 == seconds {
            return write(Int64(millionths), decimals: 6, at: start)
        }
        return writeDigits(of: seconds, at: start)
    }

    /// Writes a date rounded to milliseconds, as servers expect it. Values without a calendar date are written with
    /// full precision.
    static func writeMilliseconds(
        _ seconds: Double, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        guard seconds >= Double(first), seconds < Double(end) - 1 else { return writeExactly(seconds, at: start) }
        return write(Int64((seconds * 1e3).rounded()), decimals: 3, at: start)
    }

    /// A date as text.
    static func text(_ seconds: Double) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            return String(
                decoding: UnsafeBufferPointer(start: base, count: write(seconds, at: base) - base), as: UTF8.self)
        }
    }

    private static func writeExactly(
        _ seconds: Double, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        start.pointee = UInt8(ascii: "@")
        if seconds.isFinite { return FloatingText.write(seconds, at: start + 1) }
        let word = FloatingText.word(for: seconds)
        (start + 1).update(from: word.utf8Start, count: word.utf8CodeUnitCount)
        return start + 1 + word.utf8CodeUnitCount
    }

    /// The shortest decimal of the seconds already has the digits of the fraction, since adding whole seconds does not
    /// change them.
    private static func writeDigits(
        of seconds: Double, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        var text = seconds.magnitude.description
        var whole: Int64 = 0
        var fraction: Int64 = 0
        var decimals = 0
        let isPlain = text.withUTF8 { bytes in
            var hasPoint = false
            for byte in bytes {
                if byte == UInt8(ascii: ".") {
                    hasPoint = true
                } else if byte > 57 || byte < 48 || decimals == 12 {
                    return false
                } else if hasPoint {
                    fraction = fraction * 10 + Int64(byte - 48)
                    decimals += 1
                } else {
                    whole = whole * 10 + Int64(byte - 48)
                }
            }
            return true
        }
        guard isPlain else { return writeExactly(seconds, at: start) }
        while decimals < 3 {
            fraction *= 10
            decimals += 1
        }
        if seconds < 0 {
            whole = -whole
            if fraction > 0 {
                whole -= 1
                fraction = power(decimals) - fraction
            }
        }
        return write(whole: whole, fraction: fraction, decimals: decimals, at: start)
    }

    private static func write(
        _ parts: Int64, decimals: Int, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        let scale = power(decimals)
        var (whole, fraction) = parts.quotientAndRemainder(dividingBy: scale)
        if fraction < 0 {
            fraction += scale
            whole -= 1
        }
        return write(whole: whole, fraction: fraction, decimals: decimals, at: start)
    }

    private static func write(
        whole: Int64, fraction: Int64, decimals: Int, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        var (days, time) = whole.quotientAndRemainder(dividingBy: 86400)
        if time < 0 {
            time += 86400
            days -= 1
        }
        let (year, month, day) = civil(daysFromMarch: days + daysToReference)
        IntegerText.write(UInt64(truncatingIfNeeded: year), digits: 4, at: start)
        start[4] = UInt8(ascii: "-")
        IntegerText.write(month, digits: 2, at: start + 5)
        start[7] = UInt8(ascii: "-")
        IntegerText.write(day, digits: 2, at: start + 8)
        start[10] = UInt8(ascii: "T")
        let clock = UInt64(truncatingIfNeeded: time)
        IntegerText.write(clock / 3600, digits: 2, at: start + 11)
        start[13] = UInt8(ascii: ":")
        IntegerText.write(clock / 60 % 60, digits: 2, at: start + 14)
        start[16] = UInt8(ascii: ":")
        IntegerText.write(clock % 60, digits: 2, at: start + 17)
        start[19] = UInt8(ascii: ".")
        IntegerText.write(UInt64(truncatingIfNeeded: fraction), digits: decimals, at: start + 20)
        start[20 + decimals] = UInt8(ascii: "Z")
        return start + 21 + decimals
    }

    /// Year, month and day of a day counted from 0000-03-01: in a year that begins in March the leap day is the last
    /// day. The day is not before year 1.
    private static func civil(daysFromMarch days: Int64) -> (year: Int64, month: UInt64, day: UInt64) {
        var yearFromMarch: Int64
        let dayOfYear: Int64
        if days >= firstGregorianDay {
            let era = days / 146_097
            let dayOfEra = days - era * 146_097
            yearFromMarch = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
            dayOfYear = dayOfEra - (365 * yearFromMarch + yearFromMarch / 4 - yearFromMarch / 100)
            yearFromMarch += era * 400
        } else {
            yearFromMarch = (4 * (days + julianOffset) + 3) / 1461
            dayOfYear = days + julianOffset - 1461 * yearFromMarch / 4
        }
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (
            yearFromMarch + (month <= 2 ? 1 : 0), UInt64(truncatingIfNeeded: month), UInt64(truncatingIfNeeded: day)
        )
    }

    // MARK: - Reading

    /// The seconds since 2001 of a text, or nil if it is not a date. Besides the output of `write`, any ISO 8601
    /// date and time with a zone (`Z` or `±hh:mm`) is accepted, with any number of digits.
    static func seconds(_ text: UnsafeRawBufferPointer) -> Double? {
        if text.first == UInt8(ascii: "@") {
            let word = String(decoding: text.dropFirst(), as: UTF8.self)
            if let special = FloatingText.number(for: word) { return special }
            guard NumberScan.scan(text: UnsafeRawBufferPointer(rebasing: text.dropFirst())) != nil else { return nil }
            return Double(word)
        }
        guard text.count >= 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] | 0x20 == UInt8(ascii: "t") || text[10] == UInt8(ascii: " "),
            text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2),
            let hour = number(text, 11, 2), let minute = number(text, 14, 2), let second = number(text, 17, 2),
            year >= 1, (1...12).contains(month), day >= 1, hour < 24, minute < 60, second < 60
        else { return nil }
        let isJulian = (year, month, day) < (1582, 10, 15)
        guard day <= length(ofMonth: month, year: year, isJulian: isJulian) else { return nil }
        var index = 19
        var fraction: Int64 = 0
        var decimals = 0
        if text[index] == UInt8(ascii: ".") || text[index] == UInt8(ascii: ",") {
            index += 1
            let start = index
            while index < text.count, case let digit = text[index] &- 48, digit < 10 {
                // Digits beyond the 15th are below the precision of a double for any calendar date.
                if decimals < 15 {
                    fraction = fraction * 10 + Int64(digit)
                    decimals += 1
                }
                index += 1
            }
            if index == start { return nil }
        }
        guard let zone = zoneOffset(text, from: index) else { return nil }
        let days = daysFromMarch(year: year, month: month, day: day, isJulian: isJulian) - daysToReference
        let whole = days * 86400 + hour * 3600 + minute * 60 + second - zone
        return combine(whole: whole, fraction: fraction, decimals: decimals)
    }

    /// The double nearest to an integer and a decimal fraction.
    private static func combine(whole: Int64, fraction: Int64, decimals: Int) -> Double? {
        var fraction = fraction
        var decimals = decimals
        while decimals > 0, fraction % 10 == 0 {
            fraction /= 10
            decimals -= 1
        }
        if decimals == 0 { return Double(whole) }
        let scale = power(decimals)
        let (product, overflows) = whole.multipliedReportingOverflow(by: scale)
        if !overflows, case let parts = product + fraction, parts.magnitude <= 1 << 53 {
            return Double(parts) / Double(scale)
        }
        // Long fractions are converted through their text, the integer part towards zero.
        let isNegative = whole < 0
        let upper = isNegative ? -(whole + 1) : whole
        let lower = isNegative ? scale - fraction : fraction
        let digits = String(lower)
        let zeros = String(repeating: "0", count: decimals - digits.count)
        return Double("\(isNegative ? "-" : "")\(upper).\(zeros)\(digits)")
    }

    private static func number(_ text: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> Int64? {
        var value: Int64 = 0
        for index in start..<start + count {
            let digit = text[index] &- 48
            guard digit < 10 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return value
    }

    /// The offset of the time zone from UTC in seconds.
    private static func zoneOffset(_ text: UnsafeRawBufferPointer, from index: Int) -> Int64? {
        guard index < text.count else { return nil }
        let rest = text.count - index
        if text[index] | 0x20 == UInt8(ascii: "z") { return rest == 1 ? 0 : nil }
        guard text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") else { return nil }
        let hasColon = rest == 6 && text[index + 3] == UInt8(ascii: ":")
        guard hasColon || rest == 5, let hours = number(text, index + 1, 2),
            let minutes = number(text, index + (hasColon ? 4 : 3), 2), hours < 24, minutes < 60
        else { return nil }
        let offset = hours * 3600 + minutes * 60
        return text[index] == UInt8(ascii: "-") ? -offset : offset
    }

    private static func daysFromMarch(year: Int64, month: Int64, day: Int64, isJulian: Bool) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let julian = shiftedYear * 365 + shiftedYear / 4 + dayOfYear
        return isJulian ? julian - julianOffset : julian - shiftedYear / 100 + shiftedYear / 400
    }

    private static func length(ofMonth month: Int64, year: Int64, isJulian: Bool) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (isJulian || year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func power(_ exponent: Int) -> Int64 {
        var value: Int64 = 1
        for _ in 0..<exponent { value *= 10 }
        return value
    }
}

/// Dates in formats of `DateFormatter`. Read and written in UTC unless a format contains a time zone.
package struct DateFormats {
    private let formatters: [DateFormatter]

    /// Common formats besides ISO 8601 with a time zone, which the readers of documents support.
    package static let usual = [
        "yyyy-MM-dd'T'HH:mm:ss.SSSZZZZZ", "yyyy-MM-dd'T'HH:mm:ssZZZZZ", "yyyy-MM-dd'T'HH:mm:ss.SSS",
        "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd HH:mm:ss Z", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd",
        "EEE, dd MMM yyyy HH:mm:ss zzz", "EEE MMM dd HH:mm:ss Z yyyy",
    ]

    package init(_ formats: [String]) {
        formatters = formats.map { format in
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.calendar = Calendar(identifier: .gregorian)
            formatter.isLenient = false
            formatter.dateFormat = format
            return formatter
        }
    }

    /// Seconds since 2001, by the first matching format; nil if none matches.
    package func seconds(_ text: String) -> Double? {
        for formatter in formatters {
            if let date = formatter.date(from: text) { return date.timeIntervalSinceReferenceDate }
        }
        return nil
    }

    /// A date in the first format; nil if there is none.
    package func text(_ seconds: Double) -> String? {
        formatters.first.map { $0.string(from: Date(timeIntervalSinceReferenceDate: seconds)) }
    }
}
