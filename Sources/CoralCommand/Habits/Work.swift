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
