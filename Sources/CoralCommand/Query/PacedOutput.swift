import Coral
import Dispatch

/// Output that is read while it is written: what has been written is passed on at once, and then ten times a second.
struct PacedOutput {
    private let output: ByteOutput
    /// In nanoseconds of the system's clock.
    private var last: UInt64 = 0
    private static let interval: UInt64 = 100_000_000

    init(_ output: ByteOutput) { self.output = output }

    /// Notes that something complete was written.
    mutating func written() throws {
        let now = DispatchTime.now().uptimeNanoseconds
        guard now - last >= Self.interval else { return }
        try output.flush()
        last = now
    }
}
