import CoreData
import GraphDocuments

/// Where an import reads from: a document in memory or in a file, of any format, or records as they are.
public enum ImportSource {
    case data(Data)
    case file(URL)
    case records([GraphRecord], header: DocumentHeader?)

    /// What the document says of itself before its records; nil where it says nothing. Reads the document's beginning.
    ///
    /// Throws `DocumentError`.
    public func header(schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws -> DocumentHeader? {
        if case .records(_, let header) = self { return header }
        return try reader(schema: schema, options: options).header
    }

    /// Reads all into a payload. Throws `DocumentError`, and `CocoaError.userCancelled` where the progress is cancelled.
    func read(into payload: ImportPayload, options: ReadingOptions, progress: Progress?) throws {
        if case .records(let records, let header) = self { return payload.add(records, header: header) }
        var reader = try reader(schema: payload.model.schema, options: options)
        progress?.totalUnitCount = Int64(reader.byteCount ?? 0)
        try read(&reader, payload, progress)
    }

    private func read(
        _ reader: inout some DocumentReader, _ payload: ImportPayload, _ progress: Progress?
    ) throws {
        try payload.read(&reader) { bytes in
            progress?.completedUnitCount = Int64(bytes)
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
        }
    }

    private func reader(schema: GraphSchema, options: ReadingOptions) throws -> any DocumentReader {
        switch self {
        case .data(let data): return try JSONDocumentReader(data, schema: schema, options: options)
        case .file(let url):
            var options = options
            if options.shape == nil, ["jsonl", "ndjson"].contains(url.pathExtension.lowercased()) {
                options.shape = .lines
            }
            return try JSONDocumentReader(FileSource(path: url.path), schema: schema, options: options)
        case .records(let records, _):
            throw ImportError(.misuse, "\(records.count) records are no document.")
        }
    }
}
