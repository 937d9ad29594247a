import Dispatch
import Foundation

/// Work that may take long: a progress bar while somebody looks, and an orderly end when they interrupt it.
enum Work {
    /// Runs work on the current thread. Interrupted (ctrl-C), the progress is cancelled, so that what was begun is undone; a
    /// second interruption ends the program at once.
    ///
    /// - Parameter title: What is being done, such as `Exporting`.
    /// - Parameter noun: What the progress counts; nil where that is nothing that says much to people.
    static func run<Result>(_ title: String, noun: String? = "object", _ body: (Progress) throws -> Result) rethrows
        -> Result
    {
        // Not a child of any other progress: nobody else counts with it.
        let progress = Progress.discreteProgress(totalUnitCount: 0)
        let interruption = Interruption(progress)
        let bar = Terminal.isConnected(.error) ? ProgressBar(title, noun: noun, progress) : nil
        defer {
            bar?.remove()
            interruption.ignore()
        }
        return try body(progress)
    }
}

/// Turns the signal of ctrl-C into the cancelling of a progress.
private struct Interruption {
    private let source: any DispatchSourceSignal

    init(_ progress: Progress) {
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: DispatchQueue(label: "coral.interruption"))
        source.setEventHandler {
            if progress.isCancelled { exit(CommandStatus.interrupted.rawValue) }
            progress.cancel()
        }
        source.resume()
    }

    func ignore() {
        source.cancel()
        signal(SIGINT, SIG_DFL)
    }
}
