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
        Interruption.shared.cancels(progress)
        let bar = Terminal.isConnected(.error) ? ProgressBar(title, noun: noun, progress) : nil
        defer { bar?.remove() }
        return try body(progress)
    }
}

/// Turns the signal of ctrl-C into the cancelling of work. It listens from the first work on to the end of the program: what
/// comes between two works cancels the second, so that what the first has made does not stay.
///
/// Unchecked, because its parts are touched on its queue alone.
private final class Interruption: @unchecked Sendable {
    static let shared = Interruption()

    private let queue = DispatchQueue(label: "coral.interruption")
    private let source: any DispatchSourceSignal
    private var progress: Progress?
    private var isAskedFor = false

    private init() {
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: queue)
        source.setEventHandler { [unowned self] in
            if isAskedFor { exit(CommandStatus.interrupted.rawValue) }
            isAskedFor = true
            progress?.cancel()
        }
        source.resume()
    }

    /// Cancels this progress when the signal comes, or at once where it has come.
    func cancels(_ progress: Progress) {
        queue.sync {
            self.progress = progress
            if isAskedFor { progress.cancel() }
        }
    }
}
