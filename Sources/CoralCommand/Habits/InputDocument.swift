import ArgumentParser
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

    /// Whether the file is a store.
    var isStore: Bool {
        guard let url, let handle = try? FileHandle(forReadingFrom: url) else { return false }
        defer { try? handle.close() }
        return ((try? handle.read(upToCount: 16)) ?? nil) == Data("SQLite format 3\0".utf8)
    }

    /// The document as an importer takes it. Standard input is read to its end, into memory.
    ///
    /// Throws `CommandError` where there is no file.
    func source() throws -> ImportSource {
        guard let url else { return .data(FileHandle.standardInput.readDataToEndOfFile()) }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw CommandError("There is no document at \(name).")
        }
        guard !isFolder.boolValue else { throw CommandError("There is a folder at \(name), not a document.") }
        return .file(url)
    }

    /// The size of the file in bytes; 0 where that is not known.
    var byteCount: Int {
        guard let url else { return 0 }
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}
