import ArgumentParser
import AtomicFiles
import Coral

/// A document argument of the command line: a file, or `-` for standard input.
struct InputDocument: ExpressibleByArgument {
    let name: String

    init?(argument: String) { name = argument }

    /// Documents of every format.
    static var defaultCompletionKind: CompletionKind {
        .file(extensions: ["json", "jsonl", "plist", "xml", "csv", "tsv"])
    }

    private var isStandardInput: Bool { name == "-" }

    /// The file, or the URL of a store in PostgreSQL; nil for standard input.
    var url: URL? { isStandardInput ? nil : URL(storeAt: name) }

    /// The name for messages.
    var shownName: String { ServerURLs.shown(name) }

    /// The folder of the document, in which its external files are located; nil for standard input.
    var folder: URL? {
        guard let url, url.isFileURL else { return nil }
        return url.withoutLinks.deletingLastPathComponent()
    }

    /// Whether it is a store.
    var isStore: Bool {
        if ServerURLs.isOne(name) { return true }
        // A pipe is not a store, and reading its first bytes would consume them.
        guard let url, FileStatus(url.path)?.isRegular == true, let handle = try? FileHandle(forReadingFrom: url)
        else { return false }
        defer { try? handle.close() }
        return ((try? handle.read(upToCount: 16)) ?? nil) == Data("SQLite format 3\0".utf8)
    }

    /// Whether it is a table, or a folder with tables.
    var isTable: Bool {
        guard let url, url.isFileURL, let status = FileStatus(url.path) else { return false }
        return status.isFolder
            ? (try? TableDocument.files(in: url).isEmpty) == false
            : status.isRegular && TableForm(ofFile: name) != nil && !isStore
    }

    /// The document as an import source. Standard input or another pipe is read into memory completely.
    ///
    /// Throws `CommandError` if there is no file.
    func source() throws -> ImportSource {
        guard let url else { return .data(try content(.standardInput)) }
        guard url.isFileURL else { throw isStoreError }
        guard let status = FileStatus(url.path) else { throw CommandError("There is no document or store at \(name).") }
        guard !status.isFolder else { throw CommandError("There is a folder at \(name), not a document.") }
        guard !isStore else { throw isStoreError }
        // A pipe can be read only once.
        return status.isRegular ? .file(url) : .data(try content(FileHandle(forReadingFrom: url)))
    }

    private var isStoreError: CommandError {
        CommandError(
            "\(shownName) is a store, not a document. Use coral export to write a document, or coral import --restore to copy the "
                + "store to a new one.")
    }

    private func content(_ handle: FileHandle) throws -> Data {
        do {
            return try handle.readToEnd() ?? Data()
        } catch {
            let subject = isStandardInput ? "Standard input" : name
            throw CommandError("\(subject) cannot be read. Name a file, or pipe a document into the command.")
        }
    }

    /// The size of the file in bytes; 0 if it is not known.
    var byteCount: Int {
        guard let url else { return 0 }
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}
