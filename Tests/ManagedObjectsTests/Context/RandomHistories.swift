import Foundation
import Testing

@testable import ManagedObjects

/// Random histories of numbered steps. A step has the same effect if others are omitted, so that a failing history can be
/// reduced to its essential steps.
///
/// Set `CORAL_RANDOM_SEEDS` for more of them.
enum RandomHistories {
    /// The result of a history.
    struct Outcome {
        /// The steps.
        var log: [String] = []
        /// The violations.
        var wrong: [String] = []
    }

    /// Seeds from 1, the default number or that in the environment.
    static func seeds(_ usual: UInt64) -> [UInt64] {
        let count = ProcessInfo.processInfo.environment["CORAL_RANDOM_SEEDS"].flatMap(UInt64.init) ?? usual
        return Array(1...max(1, count))
    }

    /// Runs a history, and reports a failing one reduced to the shortest that fails.
    static func check(_ label: String, steps count: Int, run: ([Int]) throws -> Outcome) {
        func outcome(_ steps: [Int]) -> Outcome {
            do {
                return try run(steps)
            } catch {
                return Outcome(wrong: ["\(error)"])
            }
        }
        let all = Array(0..<count)
        guard !outcome(all).wrong.isEmpty else { return }
        let steps = shortest(all) { !outcome($0).wrong.isEmpty }
        let least = outcome(steps)
        Issue.record(
            "\(label): \(least.wrong.joined(separator: "\n"))\nafter\n\(least.log.joined(separator: "\n"))")
    }

    /// The shortest failing part of a failing history, found by omitting sequences of steps.
    private static func shortest(_ steps: [Int], failing fails: ([Int]) -> Bool) -> [Int] {
        var steps = steps
        var length = steps.count / 2
        while length > 0 {
            var start = 0
            var isShorter = false
            while start < steps.count {
                var rest = steps
                rest.removeSubrange(start..<min(start + length, steps.count))
                if fails(rest) {
                    steps = rest
                    isShorter = true
                } else {
                    start += length
                }
            }
            if length > 1 || !isShorter { length /= 2 }
        }
        return steps
    }
}

/// Collects the save notifications of a context.
final class SavesOf: @unchecked Sendable {  // because the tests are one thread each
    private(set) var notifications: [Notification] = []
    private var token: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext) {
        token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { [unowned self] in notifications.append($0) }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}
