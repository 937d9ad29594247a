import AtomicFiles
import Foundation
import GraphDocuments
import ModelFiles

/// Puts large values into files beside the document, and names the files in it. Everything else goes on to another writer.
///
/// A file is named by the SHA-256 of its content, so that the same data give the same files, and a document never names a file
/// that has another content: files are added before the document takes its place, and those that it does not name are
/// removed afterwards. Equal values have one file.
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

/// The folder of a document's files. While the document is written they are in a `PartialFolder`.
final class ExternalFileFolder {
    private let url: URL
    private var partial: PartialFolder?
    /// The names of the files that the document has.
    private var names: Set<String> = []
    /// The names of the files that an earlier document does not have.
    private var added: [String] = []

    /// - Parameter document: The document's file. `notes.json` has its files in `notes.json.files`.
    init(for document: URL) { url = document.withoutLinks.appendingPathExtension("files") }

    /// Writes a file, and gives its path beside the document. Throws `DocumentError`.
    func add(_ bytes: Data) throws -> ExternalFile {
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

    /// Puts the files beside the document, where those of an earlier one stay.
    fileprivate func addFiles() throws {
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

    /// Removes the files of a document that could not take its place.
    fileprivate func removeAddedFiles() {
        for name in added { try? FileSystem.remove(url.appendingPathComponent(name).path) }
        rmdir(url.path)
    }

    /// Removes the files of earlier documents, and the folder where none is left. Files of other names stay.
    fileprivate func removeOtherFiles() {
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
