import Foundation

/// Questions to the person at the terminal.
enum Confirmation {
    /// Whether a person says yes. Where nobody is there to ask, as in a script, the answer is no.
    static func isGiven(_ question: String) -> Bool {
        guard Terminal.isConnected(.input), Terminal.isConnected(.error) else { return false }
        StandardError.write("\(question) [y/N] ")
        return ["y", "yes"].contains((readLine() ?? "").trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// Asks before a file or folder is replaced, unless that is forced.
    ///
    /// Throws `CommandError` where there is one that nobody allows to replace.
    static func requireFree(_ path: String, isForced: Bool) throws {
        guard !isForced, FileManager.default.fileExists(atPath: path) else { return }
        guard isGiven("There is a file at \(path). Replace it?") else {
            throw CommandError("There is a file at \(path). Say --force to replace it.")
        }
    }
}
