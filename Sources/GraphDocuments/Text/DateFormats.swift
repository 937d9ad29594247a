import Foundation

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
