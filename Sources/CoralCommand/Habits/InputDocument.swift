import ArgumentParser
import AtomicFiles
import Coral

/// A document as the command line names it: a file, or `-` for standard input.
struct InputDocument: ExpressibleByArgument {
    let name: String

    init?(argument: String) { name = argument }

    /// Documents of every format.
    static var defaultCompletionKind: CompletionKind {
        .file(extensions: ["json", "jsonl", "plist", "xml"])
    }

    private var isStandardInput: Bool { name == "-" }

    /// The file; nil for standard input.
    var url: URL? { isStandardInput ? nil : URL(fileURLWithPath: name) }

    /// The folder that the document is in, where files beside it are looked for; nil for standard input.
    var folder: URL? { url?.withoutLinks.deletingLastPathComponent() }

    /// Whether the file is a store.
    var isStore: Bool {
        // A pipe is no store, and what is read from it to find out would be missing later.
        guard let url, FileStatus(url.path)?.isRegular == true, let handle = try? FileHandle(forReadingFrom: url)
        else { return false }
        defer { try? handle.close() }
        return ((try? handle.read(upToCount: 16)) ?? nil) == Data("SQLite format 3\0".utf8)
    }

    /// The document as an importer takes it. Standard input, or another pipe, is read to its end, into memory.
    ///
    /// Throws `CommandError` where there is no file.
    func source() throws -> ImportSource {
        guard let url else { return .data(try content(.standardInput)) }
        guard let status = FileStatus(url.path) else { throw CommandError("There is no document at \(name).") }
        guard !status.isFolder else { throw CommandError("There is a folder at \(name), not a document.") }
        guard !isStore else {
            throw CommandError("\(name) is a store, not a document. Write one of it with coral export.")
        }
        // What comes through a pipe comes once.
        return status.isRegular ? .file(url) : .data(try content(FileHandle(forReadingFrom: url)))
    }

    private func content(_ handle: FileHandle) throws -> Data {
        do {
            return try handle.readToEnd() ?? Data()
        } catch {
            let place = isStandardInput ? "Standard input" : name
            throw CommandError("\(place) cannot be read. Name a file, or lead a document into the command.")
        }
    }

    /// The size of the file in bytes; 0 where that is not known.
    var byteCount: Int {
        guard let url else { return 0 }
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}
