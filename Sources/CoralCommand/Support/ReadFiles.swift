import AtomicFiles
import Foundation

/// The files that a command reads, which its output must not replace. Also those of one output, which another must not replace.
struct ReadFiles {
    /// Without symbolic links.
    private let urls: [URL]

    /// - Parameter urls: Stores, documents and models. Their companion files count as read too: a store's log and its
    ///   folder of large values, a document's external files.
    init(_ urls: [URL?]) { self.urls = urls.compactMap { $0?.withoutLinks }.filter(\.isFileURL) }

    /// Whether writing a file would replace one that is read, or one of its parts.
    ///
    /// - Parameter isStore: Whether a store is written, which also replaces the log of an existing store.
    func wouldBeReplaced(by output: URL, isStore: Bool) -> Bool {
        guard output.isFileURL else { return false }
        let output = output.withoutLinks
        let written = isStore ? Self.databaseFiles(of: output) : [output.path]
        return urls.contains { url in written.contains { Self.isRead($0, with: url) } }
    }

    private static func isRead(_ path: String, with url: URL) -> Bool {
        let files = databaseFiles(of: url)
        if files.contains(path) || url.path.hasPrefix(path + "/") { return true }
        if folders(of: url).contains(where: { path == $0 || path.hasPrefix($0 + "/") }) { return true }
        // A file may have several hard links.
        guard let status = FileStatus(path) else { return false }
        return files.contains { FileStatus($0)?.isSame(as: status) == true }
    }

    private static func databaseFiles(of url: URL) -> [String] {
        ["", "-wal", "-shm", "-journal"].map { url.path + $0 }
    }

    /// The content of a bundle, the large values of a store, and the external files of a document.
    private static func folders(of url: URL) -> [String] {
        let name = ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT"
        return [
            url.path, url.deletingLastPathComponent().appendingPathComponent(name).path,
            url.appendingPathExtension("files").path,
        ]
    }
}
