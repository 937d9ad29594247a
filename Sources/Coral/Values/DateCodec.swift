import CoreData
import GraphDocuments

/// Dates, as seconds since 2001.
package struct DateCodec: AttributeCodec {
    /// The form in documents of the plain layout.
    package var form: PlainLayout.DateForm

    package init(form: PlainLayout.DateForm = .exact) { self.form = form }

    package func value(of object: Any) -> GraphValue? {
        (object as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
    }

    package func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .date(let seconds) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    package func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        if case .string(let text) = value {
            let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if let seconds = conversion.dates.seconds(text) { return .date(seconds) }
        }
        return DoubleCodec.number(value).flatMap { date($0, conversion.numericDates) }
    }

    private func date(_ number: Double, _ meaning: NumericDates) -> GraphValue? {
        guard number.isFinite else { return nil }
        switch meaning {
        case .reference: return .date(number)
        case .unix:
            // In seconds these are dates past the year 5138; milliseconds are far more likely.
            let seconds = abs(number) >= 1e11 ? number / 1000 : number
            return .date(Date(timeIntervalSince1970: seconds).timeIntervalSinceReferenceDate)
        case .fail: return nil
        }
    }

    package func isSame(_ stored: GraphValue, _ given: GraphValue, by equality: ValueEquality) -> Bool {
        guard case .date(let one) = stored, case .date(let two) = given else { return stored == given }
        return Self.isSame(one, two, by: equality) || stored == given
    }

    package static func isSame(_ stored: Double, _ given: Double, by equality: ValueEquality) -> Bool {
        stored == given && equality.isOfSQLite || abs(stored - given) <= equality.dateTolerance
    }
}
