import Foundation
import Testing

@testable import ManagedObjects

/// Random histories of numbered steps, each of which does the same whichever others are left out: so one that fails is told
/// as the few steps that it takes.
///
/// More of them: set `CORAL_RANDOM_SEEDS` to their number.
enum RandomHistories {
    /// What a history has come to.
    struct Outcome {
        /// What has been done.
        var log: [String] = []
        /// What is not as it should be.
        var wrong: [String] = []
    }

    /// Seeds from 1, as many as usual or as the environment says.
    static func seeds(_ usual: UInt64) -> [UInt64] {
        let count = ProcessInfo.processInfo.environment["CORAL_RANDOM_SEEDS"].flatMap(UInt64.init) ?? usual
        return Array(1...max(1, count))
    }

    /// Runs a history, and tells of one that fails by the shortest that does.
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

    /// The shortest part of a failing history that fails too, as far as leaving out runs of steps finds it.
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

/// What a context has told of its saves.
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
