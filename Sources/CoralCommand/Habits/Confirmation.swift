import AtomicFiles
import Foundation

/// Questions to the person at the terminal.
enum Confirmation {
    /// Whether a person says yes. Where nobody is there to ask, as in a script, the answer is no.
    static func isGiven(_ question: String) -> Bool {
        guard Terminal.isConnected(.input), Terminal.isConnected(.error) else { return false }
        StandardError.write("\(question) [y/N] ")
        return ["y", "yes"].contains((readLine() ?? "").trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// What a command writes.
    enum Output {
        case document
        /// A store, with what stands beside it.
        case store
        /// A model, which may be a folder, as bundles are.
        case model
    }

    /// Asks before a file is replaced, unless that is forced.
    ///
    /// - Parameter inputs: What is being read, and must stay.
    /// Throws `CommandError` where what is read would be replaced, where there is a file and nobody allows to replace it, and for
    /// a folder that is no model.
    static func requireFree(
        _ path: String, for output: Output = .document, reading inputs: [URL?] = [], isForced: Bool
    ) throws {
        let url = URL(fileURLWithPath: path)
        guard !ReadFiles(inputs).wouldBeReplaced(by: url, isStore: output == .store) else {
            throw CommandError("What is written to \(path) would replace what is read from it. Name another file.")
        }
        guard let status = FileStatus(path) else { return }
        if status.isFolder, output != .model || !ModelSource.isModelFile(url) {
            throw CommandError("There is a folder at \(path). Name a file to write, in it or elsewhere.")
        }
        if output != .document, !status.isFolder, !status.isRegular {
            throw CommandError("There is a device or a pipe at \(path). Name a file to write.")
        }
        // Nothing is lost where a device or a pipe is written to.
        guard !isForced, status.isFolder || status.isRegular else { return }
        guard isGiven("There is a file at \(path). Replace it?") else {
            throw CommandError("There is a file at \(path). Say --force to replace it.")
        }
    }
}
