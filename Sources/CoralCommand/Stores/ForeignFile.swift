import Coral
import Foundation

/// A file that is not a store: what it is, and what to do with it.
struct ForeignFile {
    /// What the file is, with an article.
    let kind: String
    /// What to do instead, as a sentence.
    let advice: String

    /// The first bytes of a file that are read.
    private static let headLength = 512

    /// Nil for a folder, for a file that begins as an SQLite database does, and for one of an unknown kind, which may be a damaged store.
    init?(at url: URL) {
        guard url.isFileURL, let handle = try? FileHandle(forReadingFrom: url) else { return nil }
        defer { try? handle.close() }
        guard let head = try? handle.read(upToCount: Self.headLength), !head.isEmpty else { return nil }
        self.init(head, name: ShellWord.quoted(url.relativePath))
    }

    private init?(_ head: Data, name: String) {
        if head.starts(with: Data("PK\u{03}\u{04}".utf8)) {
            self.init(kind: "a ZIP archive", advice: "Unpack it first.")
        } else if head.starts(with: [0x1F, 0x8B]) {
            self.init(kind: "a compressed file", advice: "Unpack it first, with gunzip or tar.")
        } else if head.starts(with: Data("bplist00".utf8)) {
            self.init(
                kind: "a property list, a model or an archive",
                advice:
                    "coral model show \(name) shows a model, and coral import \(name) --into STORE reads a document.")
        } else if let text = Self.text(head)?.trimmingCharacters(in: .whitespacesAndNewlines) {
            self.init(text, name)
        } else {
            return nil
        }
    }

    private init(_ text: String, _ name: String) {
        if text.hasPrefix("<"), text.contains("CoreData.dtd") {
            self.init(
                kind: "a store of the type XML, and the command opens those of SQLite",
                advice: "NSPersistentStoreCoordinator.migratePersistentStore converts it in a program.")
        } else if text.hasPrefix("{") || text.hasPrefix("[") || text.hasPrefix("<") {
            let form = text.hasPrefix("<") ? "an XML" : "a JSON"
            self.init(kind: "\(form) document", advice: "coral import \(name) --into STORE reads it into a store.")
        } else {
            self.init(kind: "a text", advice: "A store begins with the words SQLite format 3.")
        }
    }

    private init(kind: String, advice: String) {
        (self.kind, self.advice) = (kind, advice)
    }

    /// The text of bytes that have no control characters; nil for others. The last character may be cut.
    private static func text(_ head: Data) -> String? {
        guard head.allSatisfy({ $0 >= 0x20 || [0x09, 0x0A, 0x0D].contains($0) }) else { return nil }
        return (0..<4).lazy.compactMap { String(data: head.dropLast($0), encoding: .utf8) }.first
    }

    /// Whether an error of opening a store says that its file is a database of another kind.
    static func isDatabase(_ error: any Error) -> Bool {
        ErrorText.text(of: error).contains("it is not a store of Core Data")
    }
}
