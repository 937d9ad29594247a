import Foundation

/// An operation that apps do every day: what is done, and the sizes at which it is measured unless others are given.
struct Operation: Sendable {
    let name: String
    let text: String
    let sizes: [Int]
    let run: @Sendable (Int, Meter) throws -> Void

    init(
        _ name: String, _ text: String, sizes: [Int] = [1000, 4000, 16000],
        run: @escaping @Sendable (Int, Meter) throws -> Void
    ) {
        self.name = name
        self.text = text
        self.sizes = sizes
        self.run = run
    }
}

/// What one operation costs at one size. Processor time, because what others do on the machine has little effect on it.
final class Meter {
    /// The processor time of Coral, in seconds.
    private(set) var seconds = 0.0
    /// The processor time of the same by SQLite's C interface on the same file, if there is such a thing.
    private(set) var rawSeconds: Double?
    /// The bytes by which resident memory grew at most while Coral was measured.
    private(set) var peakGrowth = 0

    /// Measures what Coral does.
    func measure<Result>(_ work: () throws -> Result) rethrows -> Result {
        let before = ResidentMemory.forgetPeak()
        let start = Self.processorTime
        defer {
            seconds += Self.processorTime - start
            peakGrowth = max(peakGrowth, ResidentMemory.peak - before)
        }
        return try work()
    }

    /// Measures the same by SQLite's C interface.
    func measureRaw<Result>(_ work: () throws -> Result) rethrows -> Result {
        let start = Self.processorTime
        defer { rawSeconds = (rawSeconds ?? 0) + Self.processorTime - start }
        return try work()
    }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The resident memory of the process, in bytes; 0 on systems without `/proc`.
private enum ResidentMemory {
    /// Lets the peak begin again at the present size, which is returned.
    static func forgetPeak() -> Int {
        if let file = fopen("/proc/self/clear_refs", "w") {
            fputs("5", file)
            fclose(file)
        }
        return peak
    }

    static var peak: Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return 0 }
        return (Int(line.filter(\.isNumber)) ?? 0) * 1024
    }
}
