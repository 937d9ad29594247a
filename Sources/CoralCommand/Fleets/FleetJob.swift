import Coral
import Foundation

/// Works on many stores, a bounded number at the same time.
struct FleetJob {
    /// The subcommand as the lines of the output name it. A trial has another name, because it completes no store.
    let command: String
    /// The activity, such as `Checking`.
    let title: String
    /// Whether the stores are changed.
    let changesStores: Bool
    let options: FleetOptions

    /// - Parameter isTrial: Whether the job only finds out what it would change. Nil for a job that changes nothing anyway.
    init(_ name: String, title: String, isTrial: Bool? = nil, _ options: FleetOptions) {
        command = isTrial == true ? "\(name) --dry-run" : name
        changesStores = isTrial == false
        (self.title, self.options) = (title, options)
    }

    /// Works on stores, and writes a line for each. Ends with the exit code of the command.
    ///
    /// - Parameter body: Works on one store. Called on several threads.
    func run(
        on stores: [String], _ body: @escaping @Sendable (_ store: String, Progress) throws -> FleetOutcome
    ) throws {
        let earlier = try options.earlier(of: command)
        if changesStores { try StandardOutput.requireOpen() }
        let rest = stores.filter { earlier[ServerURLs.shown($0)] == nil }
        var counts = Dictionary(
            stores.compactMap { earlier[ServerURLs.shown($0)] }.map { ($0.outcome, 1) }, uniquingKeysWith: +)
        let state = State()
        Work.run(title, noun: "store") { progress in
            progress.totalUnitCount = Int64(stores.count)
            progress.completedUnitCount = Int64(stores.count - rest.count)
            progress.cancellationHandler = state.cancel
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = options.jobs
            for store in rest {
                queue.addOperation {
                    guard !progress.isCancelled, let outcome = outcome(of: store, state, body) else { return }
                    state.write(outcome) { try write(outcome) }
                    progress.completedUnitCount += 1
                }
            }
            queue.waitUntilAllOperationsAreFinished()
            if state.isCancelled { progress.cancel() }
        }
        counts.merge(state.counts, uniquingKeysWith: +)
        if let failure = state.failure { throw failure }
        let total = counts.values.reduce(0, +)
        if total < stores.count {
            StandardError.write(
                "coral: Interrupted. \(Quantity.grouped(total)) of \(Quantity.count(stores.count, "store")) are complete; the others "
                    + "are as they were, or as their last complete step left them.\n")
            throw Interruption.shared.status.exitCode
        }
        let parts = FleetOutcome.Kind.allCases.compactMap { kind in
            counts[kind].map { "\(Quantity.grouped($0)) \(kind == .findings ? "with findings" : kind.rawValue)" }
        }
        let summary = "\(Quantity.count(total, "store")): \(parts.joined(separator: ", "))."
        options.json ? StandardError.report(summary) : try StandardOutput.write(summary + "\n")
        if counts[.failed] != nil { throw CommandStatus.failure.exitCode }
        if counts[.findings] != nil { throw CommandStatus.findings.exitCode }
    }

    /// Nil if the work was cancelled.
    private func outcome(
        of store: String, _ state: State, _ body: (String, Progress) throws -> FleetOutcome
    ) -> FleetOutcome? {
        let progress = Progress.discreteProgress(totalUnitCount: 0)
        state.begin(progress)
        defer { state.end(progress) }
        let start = Date()
        var outcome: FleetOutcome
        do {
            outcome = try body(store, progress)
        } catch {
            if progress.isCancelled { return nil }
            outcome = FleetOutcome(.failed, ServerURLs.withoutPassword(ErrorText.text(of: error), of: store))
        }
        outcome.command = command
        outcome.store = ServerURLs.shown(store)
        outcome.seconds = (Date().timeIntervalSince(start) * 1000).rounded() / 1000
        return outcome
    }

    private func write(_ outcome: FleetOutcome) throws {
        var text = "\(outcome.store): \(outcome.message)\n"
        if options.json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            text = String(decoding: try encoder.encode(outcome), as: UTF8.self) + "\n"
        } else if outcome.outcome == .failed || outcome.outcome == .findings {
            text = TextStyle.red.text(outcome.outcome == .failed ? "failed" : "findings") + " " + text
        }
        // The line of the progress is drawn again after this one.
        if Terminal.isConnected(.error) { StandardError.draw("\r\u{1B}[K") }
        try changesStores ? StandardOutput.report(text) : StandardOutput.write(text)
    }

    /// What the threads of a job share.
    private final class State: @unchecked Sendable {  // because the lock guards everything
        private let lock = NSLock()
        private var running: [ObjectIdentifier: Progress] = [:]
        private(set) var counts: [FleetOutcome.Kind: Int] = [:]
        private(set) var isCancelled = false
        /// The error of the output, which ends the job.
        private(set) var failure: (any Error)?

        func begin(_ progress: Progress) {
            lock.withLock {
                running[ObjectIdentifier(progress)] = progress
                if isCancelled { progress.cancel() }
            }
        }

        func end(_ progress: Progress) { lock.withLock { running[ObjectIdentifier(progress)] = nil } }

        func write(_ outcome: FleetOutcome, _ body: () throws -> Void) {
            lock.withLock {
                counts[outcome.outcome, default: 0] += 1
                guard failure == nil else { return }
                do {
                    try body()
                } catch {
                    failure = error
                    isCancelled = true
                    for progress in running.values { progress.cancel() }
                }
            }
        }

        @Sendable func cancel() {
            lock.withLock {
                isCancelled = true
                for progress in running.values { progress.cancel() }
            }
        }
    }
}

/// What a job has done with one store: a line of its output.
struct FleetOutcome: Codable {
    enum Kind: String, Codable, CaseIterable {
        case done
        /// There was nothing to do.
        case unchanged
        case findings
        case failed
    }

    struct Problem: Codable {
        var code: String
        var entity: String
        var count: Int
    }

    var command = ""
    /// The path or URL, without a password.
    var store = ""
    var outcome: Kind
    /// A sentence for people.
    var message: String
    var seconds = 0.0

    // What the commands find.
    var objectCount: Int?
    var byteCount: Int64?
    var hasHistory: Bool?
    var model: String?
    var uuid: String?
    var problems: [Problem]?
    /// The steps of a migration or an upgrade.
    var steps: [String]?

    init(_ outcome: Kind, _ message: String) { (self.outcome, self.message) = (outcome, message) }
}
