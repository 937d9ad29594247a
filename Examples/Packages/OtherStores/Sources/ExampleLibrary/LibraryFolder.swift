import Foundation

/// A folder of documents as `FolderStore` reads them.
public enum LibraryFolder {
    /// Creates a folder of three books and an author, in the temporary folder.
    public static func make() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Library-\(UUID().uuidString)")
        let files = [
            "store.json": #"{"uuid": "0F2E7C0A-2A64-4C1D-9F5B-0C3B7E1D2A55"}"#,
            "Author/lem.json": #"{"name": "Stanisław Lem", "books": ["solaris", "eden"]}"#,
            "Book/solaris.json":
                #"{"title": "Solaris", "pages": 204, "published": "1961-01-01T00:00:00Z", "author": "lem"}"#,
            "Book/eden.json": #"{"title": "Eden", "pages": 260, "author": "lem"}"#,
            "Book/none.json": #"{"title": "A Book of Nobody"}"#,
        ]
        for (name, text) in files {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return folder
    }
}
