import Foundation
import GraphDocuments

/// The folder that a document stands in, with the files beside it that hold its large values.
struct DocumentFolder {
    private let folder: URL?

    /// Nil refuses all files.
    init(_ folder: URL?) { self.folder = folder }

    /// A file's bytes. Throws `ImportError` for a path that leads out of the folder, by `..`, by a link or from the root, and
    /// for a file that cannot be read or is not as long as the document says.
    func contents(of file: ExternalFile) throws -> Data {
        let parts = file.path.split(separator: "/", omittingEmptySubsequences: false)
        guard let folder, !parts.contains(".."), !parts.contains("."), !parts.contains(""), !file.path.contains("\0")
        else { throw ImportError(.file, "The file \"\(file.path)\" is not one that may be read.") }
        let url = folder.appendingPathComponent(file.path)
        // A link could lead out of the folder.
        let path = url.resolvingSymlinksInPath().path
        guard path.hasPrefix(folder.resolvingSymlinksInPath().path + "/") else {
            throw ImportError(.file, "The file \"\(file.path)\" lies outside the document's folder.")
        }
        guard let data = try? Data(contentsOf: url) else {
            throw ImportError(.file, "The file \"\(file.path)\" cannot be read.")
        }
        guard file.byteCount.map({ $0 == data.count }) ?? true else {
            throw ImportError(.file, "The file \"\(file.path)\" has not the size that the document says.")
        }
        return data
    }
}
