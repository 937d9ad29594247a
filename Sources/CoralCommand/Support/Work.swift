import Dispatch
import Foundation

/// Work that may take long: with a progress bar on a terminal, and orderly cancellation on an interrupt.
enum Work {
    /// Runs work on the current thread. SIGINT (ctrl-C) and SIGTERM cancel the progress, so that the work is undone; a
    /// second signal ends the program immediately.
    ///
    /// - Parameter title: The activity, such as `Exporting`.
    /// - Parameter noun: The unit that the progress counts; nil if it is not meaningful to the user.
    static func run<Result>(_ title: String, noun: String? = "object", _ body: (Progress) throws -> Result) rethrows
        -> Result
    {
        // Not a child of another progress, so that no other progress includes it.
        let progress = Progress.discreteProgress(totalUnitCount: 0)
        Interruption.shared.cancels(progress)
        let bar =
            Terminal.isConnected(.error) && !StandardError.isQuiet ? ProgressBar(title, noun: noun, progress) : nil
        defer { bar?.remove() }
        return try body(progress)
    }
}

/// A line on standard error that shows the progress of work. It appears when work takes longer than half a second, and
/// is cleared at the end.
final class ProgressBar {
    private let timer: any DispatchSourceTimer
    private let queue = DispatchQueue(label: "coral.progress")

    init(_ title: String, noun: String?, _ progress: Progress) {
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 0.5, repeating: 0.1)
        timer.setEventHandler {
            StandardError.draw(
                "\r"
                    + ProgressBar.line(
                        title, noun: noun, done: progress.completedUnitCount, total: progress.totalUnitCount,
                        width: Terminal.width) + "\u{1B}[K")
        }
        timer.resume()
    }

    /// Stops drawing and clears the line.
    func remove() {
        timer.cancel()
        // Waits for a drawing in progress.
        queue.sync {}
        StandardError.draw("\r\u{1B}[K")
    }

    /// `Exporting  ━━━━━━━━────────  43 %  52,000 of 121,000 objects`, in at most one line.
    static func line(_ title: String, noun: String?, done: Int64, total: Int64, width: Int) -> String {
        let counted = { (count: Int64) in noun == "byte" ? Quantity.bytes(count) : Quantity.grouped(count) }
        let unit = noun == nil || noun == "byte" ? "" : " \(noun ?? "")s"
        guard total > 0 else { return done > 0 && noun != nil ? "\(title)  \(counted(done))\(unit)" : "\(title) …" }
        let part = min(1, Double(done) / Double(total))
        let percent = String(Int(part * 100))
        let head = "\(title)  "
        let amount = noun == nil ? "" : "  \(counted(done)) of \(counted(total))\(unit)"
        let tail = "  \(String(repeating: " ", count: max(0, 3 - percent.count)))\(percent) %\(amount)"
        let length = min(30, width - head.count - tail.count - 1)
        guard length >= 8 else { return String((head + tail).prefix(max(0, width - 1))) }
        let full = Int(part * Double(length))
        return head + String(repeating: "━", count: full) + String(repeating: "─", count: length - full) + tail
    }
}

/// Cancels work on SIGINT and SIGTERM. Signals are handled from the first work until the program ends: a signal that
/// arrives between two pieces of work cancels the second one, so that the result of the first is discarded.
///
/// Unchecked, because its state is used only on its queue.
final class Interruption: @unchecked Sendable {
    static let shared = Interruption()

    private let queue = DispatchQueue(label: "coral.interruption")
    private var sources: [any DispatchSourceSignal] = []
    private var progress: Progress?
    /// The exit status after the signal; nil if none has been received.
    private var received: CommandStatus?

    private init() {
        let registered = DispatchGroup()
        for (number, status) in [(SIGINT, CommandStatus.interrupted), (SIGTERM, .terminated)] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [unowned self] in
                if let received { exit(received.rawValue) }
                received = status
                progress?.cancel()
            }
            registered.enter()
            source.setRegistrationHandler { registered.leave() }
            source.resume()
            sources.append(source)
        }
        // Until then a signal is ignored: a server that was ended as soon as it had printed its address went on.
        registered.wait()
    }

    /// The exit status of an interrupted command.
    var status: CommandStatus { queue.sync { received ?? .interrupted } }

    /// Cancels this progress when a signal is received, or immediately if one has been received.
    func cancels(_ progress: Progress) {
        queue.sync {
            self.progress = progress
            if received != nil { progress.cancel() }
        }
    }
}
