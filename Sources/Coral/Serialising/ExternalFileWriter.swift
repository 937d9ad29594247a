import AtomicFiles
import Foundation
import GraphDocuments
import ModelFiles

/// Writes large values to files beside the document and replaces them by the files' names. Everything else is forwarded
/// to another writer.
///
/// A file's name is the SHA-256 of its content. The same data therefore give the same files, equal values share one
/// file, and a document never names a file with other content: files are added before the document is moved to its
/// final location, and files that it does not name are removed afterwards.
struct ExternalFileWriter: GraphWriter {
    private var writer: any GraphWriter
    private let threshold: Int
    private let folder: ExternalFileFolder

    init(_ writer: any GraphWriter, threshold: Int, folder: ExternalFileFolder) {
        self.writer = writer
        self.threshold = threshold
        self.folder = folder
    }

    mutating func begin(_ header: DocumentHeader) throws { try writer.begin(header) }
    mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        try writer.beginObject(id: id, entity: entity, isDeleted: isDeleted)
    }
    mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws {
        try writer.beginRelationship(name, isToMany: isToMany, isOrdered: isOrdered)
    }
    mutating func reference(_ id: RecordID) throws { try writer.reference(id) }
    mutating func endRelationship() throws { try writer.endRelationship() }
    mutating func nullRelationship(_ name: String) throws { try writer.nullRelationship(name) }
    mutating func endObject() throws { try writer.endObject() }

    mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) throws {
        let bytes: Data? =
            switch value {
            case .data(let data): data
            case .transformable(let value): value.archive
            default: nil
            }
        guard let bytes, bytes.count >= threshold else {
            return try writer.attribute(name, value, declaredAs: type)
        }
        try writer.attribute(name, .file(try folder.add(bytes)), declaredAs: type)
    }

    mutating func finish() throws {
        do {
            try folder.addFiles()
            try writer.finish()
        } catch {
            folder.removeAddedFiles()
            throw error
        }
        folder.removeOtherFiles()
    }
}

/// The folder of a document's files. While the document is written, the files are in a `PartialFolder`.
package final class ExternalFileFolder {
    private let url: URL
    private var partial: PartialFolder?
    /// The names of the document's files.
    private var names: Set<String> = []
    /// The names of the files that did not exist before.
    private var added: [String] = []

    /// - Parameter document: The document's file. The files of `notes.json` are in `notes.json.files`.
    package init(for document: URL) { url = document.withoutLinks.appendingPathExtension("files") }

    /// Writes a file and returns its path relative to the document. Throws `DocumentError`.
    package func add(_ bytes: Data) throws -> ExternalFile {
        let name = SecureHash.sha256(bytes).map { String(format: "%02x", $0) }.joined()
        if names.insert(name).inserted {
            try reporting {
                let folder = try partial ?? PartialFolder(for: url)
                if partial == nil {
                    try FileManager.default.createDirectory(at: folder.item, withIntermediateDirectories: true)
                }
                partial = folder
                try bytes.write(to: folder.item.appendingPathComponent(name))
            }
        }
        return ExternalFile(path: "\(url.lastPathComponent)/\(name)", byteCount: Int64(bytes.count))
    }

    /// The bytes of a file that was added and not yet moved, by its path relative to the document.
    package func contents(of path: String) throws -> Data {
        guard let partial else { throw DocumentError(.file, "There is no file \(path).") }
        return try Data(contentsOf: partial.item.appendingPathComponent((path as NSString).lastPathComponent))
    }

    /// Moves the files to the folder beside the document; files of an earlier document are kept.
    ///
    /// Throws `DocumentError`.
    package func addFiles() throws {
        guard let partial else { return }
        try reporting {
            try FileSystem.synchronizeTree(partial.item.path)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            for name in names.sorted() {
                let (source, target) = (partial.item.appendingPathComponent(name), url.appendingPathComponent(name))
                let isNew = FileStatus(target.path, followingLinks: false) == nil
                try FileSystem.rename(source.path, to: target.path)
                if isNew { added.append(name) }
            }
            try FileSystem.synchronize(url.path)
            try FileSystem.synchronize(url.deletingLastPathComponent().path)
        }
        partial.remove()
    }

    /// Removes the added files after the document could not be written.
    package func removeAddedFiles() {
        for name in added { try? FileSystem.remove(url.appendingPathComponent(name).path) }
        rmdir(url.path)
    }

    /// Removes the files of earlier documents, and the folder if it is empty. Files with other names are kept.
    package func removeOtherFiles() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] {
            guard !names.contains(name), name.utf8.count == 64, name.allSatisfy(\.isHexDigit) else { continue }
            try? FileSystem.remove(url.appendingPathComponent(name).path)
        }
        rmdir(url.path)
    }

    private func reporting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            let reason = (error as? FileError)?.description ?? error.localizedDescription
            throw DocumentError(.file, "The files beside the document cannot be written: \(reason)")
        }
    }
}
