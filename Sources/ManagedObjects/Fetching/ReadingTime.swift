/// The time at which rows were read.
///
/// A number, because the compiler does not know the size of `ContinuousClock.Instant`: a field of that type makes the access to
/// other fields slower, and comparing optional ones takes longer than finding the members of an object.
struct ReadingTime: Comparable {
    /// Since the first use of this type.
    private let seconds: Double

    private static let start = ContinuousClock.now

    static var now: ReadingTime {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return ReadingTime(seconds: Double(seconds) + Double(attoseconds) * 1e-18)
    }

    static func < (left: ReadingTime, right: ReadingTime) -> Bool { left.seconds < right.seconds }

    static func - (time: ReadingTime, seconds: Double) -> ReadingTime { ReadingTime(seconds: time.seconds - seconds) }
}
