import Dispatch
import Foundation

/// Turns SIGINT and SIGTERM into the cancelling of work. It listens from the first work on to the end of the program: a signal
/// that comes between two works cancels the second, so that what the first has made is undone.
///
/// Unchecked, because its parts are touched on its queue alone.
final class Interruption: @unchecked Sendable {
    static let shared = Interruption()

    private let queue = DispatchQueue(label: "coral.interruption")
    private var sources: [any DispatchSourceSignal] = []
    private var progress: Progress?
    /// How the command ends after the signal; nil where none has come.
    private var received: CommandStatus?

    private init() {
        for (number, status) in [(SIGINT, CommandStatus.interrupted), (SIGTERM, .terminated)] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [unowned self] in
                if let received { exit(received.rawValue) }
                received = status
                progress?.cancel()
            }
            source.resume()
            sources.append(source)
        }
    }

    /// How an interrupted command ends.
    var status: CommandStatus { queue.sync { received ?? .interrupted } }

    /// Cancels this progress when a signal comes, or at once where one has come.
    func cancels(_ progress: Progress) {
        queue.sync {
            self.progress = progress
            if received != nil { progress.cancel() }
        }
    }
}
