import Foundation

/// What a store was called with, in order. One for all stores of a test, as coordinators make these.
final class CallLog: @unchecked Sendable {  // because a test calls from one thread
    private var lines: [String] = []

    func add(_ line: String) { lines.append(line) }

    /// The calls since the log was last taken.
    func take() -> [String] {
        defer { lines = [] }
        return lines
    }
}
