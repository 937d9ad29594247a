import Foundation

/// The formats of dates in documents of a mapping. The first format is written; all are read, and ISO 8601 always is.
public struct MappedDates: Sendable, Hashable {
    /// The formats: the first is written, all are read.
    package var forms: [Form]

    /// One format of dates.
    package enum Form: Sendable, Hashable {
        /// ISO 8601 with full precision.
        case iso8601
        /// ISO 8601, rounded to milliseconds.
        case iso8601Milliseconds
        /// Seconds since 1970. A number too large for that (beyond the year 5138) is read as milliseconds.
        case unix
        /// Milliseconds since 1970.
        case unixMilliseconds
        /// Seconds since 2001-01-01, the reference date of Core Data.
        case reference
        /// A format of `DateFormatter`, in UTC unless it contains a time zone.
        case format(String)
    }

    /// Creates a list of formats.
    package init(_ forms: [Form]) {
        self.forms = forms
    }

    /// ISO 8601 with full precision.
    public static let iso8601 = MappedDates([.iso8601])
    /// ISO 8601, rounded to milliseconds.
    public static let iso8601Milliseconds = MappedDates([.iso8601Milliseconds])
    /// Seconds since 1970.
    public static let unix = MappedDates([.unix])
    /// Milliseconds since 1970.
    public static let unixMilliseconds = MappedDates([.unixMilliseconds])
    /// Seconds since 2001-01-01, the reference date of Core Data.
    public static let reference = MappedDates([.reference])

    /// Formats of `DateFormatter`: the first is written, all are read.
    public static func format(_ formats: String...) -> MappedDates {
        MappedDates(formats.map { .format($0) })
    }

    /// The formats with a name: `iso8601`, `iso8601Milliseconds`, `unix`, `unixMilliseconds`, `reference`; any other
    /// text is a format of `DateFormatter`.
    package init(named text: String) {
        switch text {
        case "iso8601": self = .iso8601
        case "iso8601Milliseconds": self = .iso8601Milliseconds
        case "unix": self = .unix
        case "unixMilliseconds": self = .unixMilliseconds
        case "reference": self = .reference
        default: self = .format(text)
        }
    }
}

/// Reads and writes the dates of one attribute.
struct MappedDateCoder {
    let forms: [MappedDates.Form]
    private let formats: DateFormats

    init(_ dates: MappedDates) {
        forms = dates.forms
        formats = DateFormats(
            dates.forms.compactMap { if case .format(let format) = $0 { format } else { nil } })
    }

    /// A date, or nil if the value is not a date in any format.
    func read(_ value: GraphValue) -> GraphValue? {
        switch value {
        case .date: return value
        case .string(let text):
            let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if let seconds = formats.seconds(text) { return .date(seconds) }
            if let date = TextValue.anyValue(text, as: .date) { return date }
            return Double(text).flatMap(number)
        case .integer(let integer): return number(Double(integer))
        case .double(let double): return number(double)
        case .decimal(let decimal): return Double(DecimalText.text(decimal)).flatMap(number)
        default: return nil
        }
    }

    private func number(_ number: Double) -> GraphValue? {
        guard number.isFinite else { return nil }
        for form in forms {
            switch form {
            case .unix:
                return .date(MappedDateCoder.secondsSince2001(unix: abs(number) >= 1e11 ? number / 1000 : number))
            case .unixMilliseconds: return .date(MappedDateCoder.secondsSince2001(unix: number / 1000))
            case .reference: return .date(number)
            case .iso8601, .iso8601Milliseconds, .format: continue
            }
        }
        return nil
    }

    /// Rounded to milliseconds if the input is not more precise, so that the result is the same as that of an ISO
    /// 8601 reader for the same instant.
    private static func secondsSince2001(unix seconds: Double) -> Double {
        let thousandths = (seconds * 1000).rounded()
        let distance = Date.timeIntervalBetween1970AndReferenceDate
        return thousandths / 1000 == seconds && thousandths.magnitude < 9e15
            ? (thousandths - distance * 1000) / 1000 : seconds - distance
    }

    /// The value written for a date.
    func write(_ seconds: Double) -> GraphValue {
        let unix = seconds + Date.timeIntervalBetween1970AndReferenceDate
        switch forms.first {
        case .iso8601Milliseconds?: return .string(DateText.text((seconds * 1000).rounded() / 1000))
        case .unix?: return MappedDateCoder.shortest(unix)
        case .unixMilliseconds?: return MappedDateCoder.shortest((unix * 1000).rounded())
        case .reference?: return MappedDateCoder.shortest(seconds)
        case .format?: return formats.text(seconds).map { .string($0) } ?? .string(DateText.text(seconds))
        case .iso8601?, nil: return .string(DateText.text(seconds))
        }
    }

    private static func shortest(_ number: Double) -> GraphValue {
        Int64(exactly: number).map { .integer($0) } ?? .double(number)
    }
}
