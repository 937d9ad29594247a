import AtomicFiles
import Foundation

/// Questions to the user at the terminal.
enum Confirmation {
    /// Asks for confirmation. Without a terminal, as in a script, the result is false.
    static func isGiven(_ question: String) -> Bool {
        guard Terminal.isConnected(.input), Terminal.isConnected(.error) else { return false }
        StandardError.write("\(question) [y/N] ")
        return ["y", "yes"].contains((readLine() ?? "").trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// The kind of output of a command.
    enum Output {
        case document
        /// A store, including its companion files.
        case store
        /// A model, which may be a bundle and therefore a folder.
        case model
    }

    /// Asks for confirmation before a file is replaced, unless replacing is forced.
    ///
    /// - Parameter inputs: The files that are read and must not be replaced.
    /// Throws `CommandError` if an input would be replaced, if a file exists and replacing is not confirmed, and for a
    /// folder that is not a model.
    static func requireFree(
        _ path: String, for output: Output = .document, reading inputs: [URL?] = [], isForced: Bool
    ) throws {
        guard !ServerURLs.isOne(path) else {
            throw CommandError("The output of this command is a file, and not a store in PostgreSQL.")
        }
        let url = URL(fileURLWithPath: path)
        guard !ReadFiles(inputs).wouldBeReplaced(by: url, isStore: output == .store) else {
            throw CommandError("The output to \(path) would replace its input. Name another file.")
        }
        guard let status = FileStatus(path) else { return }
        if status.isFolder, output != .model || !ModelSource.isModelFile(url) {
            throw CommandError("There is a folder at \(path). Name a file to write, in it or elsewhere.")
        }
        if output != .document, !status.isFolder, !status.isRegular {
            throw CommandError("There is a device or a pipe at \(path). Name a file to write.")
        }
        // Writing to a device or a pipe destroys nothing.
        guard !isForced, status.isFolder || status.isRegular else { return }
        guard isGiven("There is a file at \(path). Replace it?") else {
            throw CommandError("There is a file at \(path). Use --force to replace it.")
        }
    }
}
