import Coral
import CoralTools

/// A picture of times: how many there are in equal spans from the first to the last.
struct ActivityPicture {
    private var counts = [Int](repeating: 0, count: Self.barCount)
    private let first: Double
    private let last: Double
    private let zone: TimeZone?
    /// What happens at each time.
    private let noun: String
    private static let barCount = 60

    /// Dates that programs use for "never" would leave all others in one bar.
    private static let marks = [Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0)].map(
        \.timeIntervalSinceReferenceDate)

    /// The picture of times in seconds since 2001, in any order; nil if fewer than two of them differ.
    init?(of times: some Sequence<Double>, noun: String, zone: TimeZone?) {
        let shown = times.filter { $0.isFinite && !Self.marks.contains($0) }
        guard let first = shown.min(), let last = shown.max(), last > first else { return nil }
        (self.first, self.last, self.noun, self.zone) = (first, last, noun, zone)
        for time in shown {
            let place = (time - first) / (last - first) * Double(Self.barCount)
            counts[min(Int(place), Self.barCount - 1)] += 1
        }
    }

    /// The picture, with its span of time below it. Each bar has its number as a tip.
    var html: HTML {
        let highest = counts.max() ?? 1
        let bars = counts.enumerated().filter { $0.element > 0 }.map { index, count -> HTML in
            let height = max(1, Double(count) / Double(highest) * 100)
            let start = day(first + (last - first) * Double(index) / Double(Self.barCount))
            return """
                <rect x="\(index * 10)" y="\(100 - height)" width="9" height="\(height)"><title>\
                from \(start): \(Quantity.count(count, noun))</title></rect>
                """
        }
        let label = noun.prefix(1).uppercased() + noun.dropFirst()
        return """
            <figure class="activity"><svg viewBox="0 0 \(Self.barCount * 10) 100" preserveAspectRatio="none" role="img" \
            aria-label="\(label)s from \(day(first)) to \(day(last))">\(bars)</svg>
            <figcaption>\(day(first)) to \(day(last))</figcaption></figure>
            """
    }

    private func day(_ seconds: Double) -> String {
        String(DateCell.text(of: seconds, in: zone).prefix { $0 != "T" })
    }
}
