import Foundation
import GraphDocuments

/// Puts large values into files beside the document, and names the files in it. Everything else goes on to another writer.
///
/// Files are called by their numbers, in the order in which they are met, so that the same data give the same files.
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

    /// The files take their place first: a document never names what is not there.
    mutating func finish() throws {
        try folder.finish()
        try writer.finish()
    }
}

/// The folder of a document's files while they are written: one of its own, which takes its place when all are there.
final class ExternalFileFolder {
    private let url: URL
    private let partial: URL
    private var count = 0

    /// - Parameter document: The document's file. `notes.json` has its files in `notes.json.files`.
    init(for document: URL) {
        url = document.appendingPathExtension("files")
        partial = document.deletingLastPathComponent()
            .appendingPathComponent(".\(document.lastPathComponent).files-\(UUID().uuidString)")
    }

    /// Writes a file, and gives its path beside the document. Throws `DocumentError`.
    func add(_ bytes: Data) throws -> ExternalFile {
        count += 1
        do {
            if count == 1 { try FileManager.default.createDirectory(at: partial, withIntermediateDirectories: true) }
            try bytes.write(to: partial.appendingPathComponent(String(count)))
        } catch {
            throw DocumentError(.file, "A file beside the document cannot be written: \(error.localizedDescription)")
        }
        return ExternalFile(path: "\(url.lastPathComponent)/\(count)", byteCount: Int64(bytes.count))
    }

    /// Puts the files in the place of those of an earlier document.
    func finish() throws {
        do {
            let manager = FileManager.default
            if manager.fileExists(atPath: url.path) { try manager.removeItem(at: url) }
            if count > 0 { try manager.moveItem(at: partial, to: url) }
            count = 0
        } catch {
            throw DocumentError(
                .file, "The files beside the document cannot be put there: \(error.localizedDescription)")
        }
    }

    deinit {
        // What was not finished is nobody's.
        if count > 0 { try? FileManager.default.removeItem(at: partial) }
    }
}
