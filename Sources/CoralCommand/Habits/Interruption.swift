import Dispatch
import Foundation

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
