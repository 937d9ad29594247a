import Foundation

/// Questions to the person at the terminal.
enum Confirmation {
    /// Whether a person says yes. Where nobody is there to ask, as in a script, the answer is no.
    static func isGiven(_ question: String) -> Bool {
        guard Terminal.isConnected(.input), Terminal.isConnected(.error) else { return false }
        StandardError.write("\(question) [y/N] ")
        return ["y", "yes"].contains((readLine() ?? "").trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// Asks before a file is replaced, unless that is forced.
    ///
    /// - Parameter inputs: What is being read, and must stay.
    /// - Parameter isModel: Whether a folder may be replaced that is a model by its name, as bundles are folders.
    /// Throws `CommandError` where there is a file that nobody allows to replace, and for any other folder.
    static func requireFree(
        _ path: String, reading inputs: [URL?] = [], isForced: Bool, isModel: Bool = false
    ) throws {
        guard let status = FileStatus(path) else { return }
        for case let input? in inputs where FileStatus(input.path)?.isSame(as: status) == true {
            throw CommandError("What is written to \(path) would replace what is read from it. Name another file.")
        }
        if status.isFolder, !isModel || !ModelSource.isModelFile(URL(fileURLWithPath: path)) {
            throw CommandError("There is a folder at \(path). Name a file to write, in it or elsewhere.")
        }
        // Nothing is lost where a device or a pipe is written to.
        guard !isForced, status.isFolder || status.isRegular else { return }
        guard isGiven("There is a file at \(path). Replace it?") else {
            throw CommandError("There is a file at \(path). Say --force to replace it.")
        }
    }
}
