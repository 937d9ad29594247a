import Foundation

/// The calls to stores, in order. One log for all stores of a test, because coordinators create the stores.
final class CallLog: @unchecked Sendable {  // because a test calls from one thread
    private var lines: [String] = []

    func add(_ line: String) { lines.append(line) }

    /// The calls since the log was last taken.
    func take() -> [String] {
        defer { lines = [] }
        return lines
    }
}
