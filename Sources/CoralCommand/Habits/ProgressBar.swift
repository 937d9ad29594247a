import Dispatch
import Foundation

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
