import Foundation
import GraphDocuments

/// The folder of a document, with the files beside it that contain its large values.
struct DocumentFolder {
    private let folder: URL?

    /// Nil means that no file may be read.
    init(_ folder: URL?) { self.folder = folder }

    /// A file's bytes. Throws `ImportError` for a path outside the folder (by `..`, a link, or an absolute path), and
    /// for a file that cannot be read or whose size differs from the size that the document states.
    func contents(of file: ExternalFile) throws -> Data {
        let parts = file.path.split(separator: "/", omittingEmptySubsequences: false)
        guard let folder, !parts.contains(".."), !parts.contains("."), !parts.contains(""), !file.path.contains("\0")
        else { throw ImportError(.file, "Reading the file \"\(file.path)\" is not allowed.") }
        let url = folder.appendingPathComponent(file.path)
        // A symbolic link could refer to a file outside the folder.
        let path = url.resolvingSymlinksInPath().path
        guard path.hasPrefix(folder.resolvingSymlinksInPath().path + "/") else {
            throw ImportError(.file, "The file \"\(file.path)\" is outside the document's folder.")
        }
        guard let data = try? Data(contentsOf: url) else {
            throw ImportError(.file, "The file \"\(file.path)\" cannot be read.")
        }
        guard file.byteCount.map({ $0 == data.count }) ?? true else {
            throw ImportError(.file, "The file \"\(file.path)\" does not have the size that the document states.")
        }
        return data
    }
}
