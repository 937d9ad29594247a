import Dispatch
import Foundation

/// Work that may take long: with a progress bar on a terminal, and an orderly end when it is interrupted.
enum Work {
    /// Runs work on the current thread. At SIGINT (ctrl-C) and SIGTERM the progress is cancelled, so that what was begun is
    /// undone; a second signal ends the program at once.
    ///
    /// - Parameter title: What is being done, such as `Exporting`.
    /// - Parameter noun: What the progress counts; nil where that is nothing that says much to people.
    static func run<Result>(_ title: String, noun: String? = "object", _ body: (Progress) throws -> Result) rethrows
        -> Result
    {
        // Not a child of any other progress: nobody else counts with it.
        let progress = Progress.discreteProgress(totalUnitCount: 0)
        Interruption.shared.cancels(progress)
        let bar = Terminal.isConnected(.error) ? ProgressBar(title, noun: noun, progress) : nil
        defer { bar?.remove() }
        return try body(progress)
    }
}
