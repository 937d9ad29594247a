import AtomicFiles
import Coral

/// The file of the generated code for a plain database. Its previous content is kept until the database has been moved to its
/// location, so that an error leaves both files or neither.
final class CodeFile {
    private let path: String
    private let isReplaced: Bool
    /// The content of the file that is replaced; nil if there is none.
    private let previous: Data?
    private var isWritten = false

    /// Throws `CommandError` if the existing file cannot be read.
    init(path: String, isReplaced: Bool) throws {
        self.path = path
        self.isReplaced = isReplaced
        guard let status = FileStatus(path), status.isRegular else {
            previous = nil
            return
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandError("\(path) exists and cannot be read.")
        }
        previous = data
    }

    /// Writes the file atomically. A device or a pipe is written to directly.
    func write(_ text: String) throws { try write(Data(text.utf8)) }

    private func write(_ data: Data) throws {
        let sink = try AtomicFile(path: path, replacing: isReplaced)
        try data.withUnsafeBytes { try sink.write($0) }
        try sink.finish()
        isWritten = true
    }

    /// Restores the previous content, or removes a new file.
    func restore() {
        guard isWritten else { return }
        if let previous {
            try? write(previous)
        } else if FileStatus(path)?.isRegular == true {
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}
