import CoreData
import GraphDocuments

/// Where an import reads from: a document in memory or in a file, of any format, or records as they are.
public enum ImportSource {
    /// A document in memory, of any format.
    case data(Data)
    /// A document in a file, of any format.
    case file(URL)
    /// A dictionary or an array of dictionaries, of `GraphExporter`'s or of `JSONSerialization`'s making.
    case dictionary(Any)
    /// Records as they are, with what a document would say of itself.
    case records([GraphRecord], header: DocumentHeader?)
    /// Records with their places in a document without a header, such as `ForeignDocument` reads.
    case placedRecords([PlacedRecord])

    /// What the document says of itself before its records; nil where it says nothing. Reads the document's beginning.
    ///
    /// Throws `DocumentError`.
    public func header(schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws -> DocumentHeader? {
        if case .records(_, let header) = self { return header }
        if case .placedRecords = self { return nil }
        return try reader(schema: schema, options: options).header
    }

    /// Reads all into a payload. Throws `DocumentError`, and `CocoaError.userCancelled` where the progress is cancelled.
    func read(into payload: ImportPayload, options: ReadingOptions, progress: Progress?) throws {
        switch self {
        case .records(let records, let header): return payload.add(records, header: header)
        case .placedRecords(let records): return records.forEach { payload.add($0) }
        case .data, .file, .dictionary: break
        }
        var reader = try reader(schema: payload.model.schema, options: options, mapping: payload.model.mapping)
        progress?.begin(reader.byteCount ?? 0)
        try read(&reader, payload, progress, countsBytes: reader.byteCount != nil)
    }

    private func read(
        _ reader: inout some DocumentReader, _ payload: ImportPayload, _ progress: Progress?, countsBytes: Bool
    ) throws {
        try payload.read(&reader) { bytes in
            if countsBytes { progress?.completedUnitCount = Int64(bytes) }
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
        }
    }

    /// A reader of the document; of records as they are there is none.
    func reader(
        schema: GraphSchema, options: ReadingOptions, mapping: MappingPlan? = nil
    ) throws -> any DocumentReader {
        if let mapping { return try reader(mapping: mapping, options: options) }
        switch self {
        case .data(let data):
            return try format(of: data).reader(of: data, schema: schema, options: options)
        case .file(let url):
            let named = GraphFormat(fileExtension: url.pathExtension)
            // What a file begins with says more than its name, but for JSON Lines, which begin as JSON does.
            let format = try named == .jsonLines ? .jsonLines : format(of: beginning(of: url))
            return try format.reader(ofFile: url.path, schema: schema, options: options)
        case .dictionary(let document):
            return try DictionaryDocumentReader(document, schema: schema, options: options)
        case .records, .placedRecords: throw ImportError(.misuse, "Records that are read already are no document.")
        }
    }

    private func reader(mapping: MappingPlan, options: ReadingOptions) throws -> any DocumentReader {
        switch self {
        case .data(let data): return try format(of: data).reader(of: data, plan: mapping, options: options)
        case .file(let url):
            let named = GraphFormat(fileExtension: url.pathExtension)
            let format = try named == .jsonLines ? .jsonLines : format(of: beginning(of: url))
            return try format.reader(ofFile: url.path, plan: mapping, options: options)
        case .dictionary(let document): return try mappedReader(of: document, plan: mapping, options: options)
        case .records, .placedRecords: throw ImportError(.misuse, "Records that are read already are no document.")
        }
    }

    /// The bytes of a document in JSON; nil for what is none.
    func plainJSON() throws -> (any ByteSource)? {
        switch self {
        case .data(let data): return try format(of: data) == .json ? MemorySource(data) : nil
        case .file(let url):
            guard GraphFormat(fileExtension: url.pathExtension) != .jsonLines,
                try format(of: beginning(of: url)) == .json
            else { return nil }
            return try FileSource(path: url.path)
        case .dictionary, .records, .placedRecords: return nil
        }
    }

    private func format(of beginning: Data) throws -> GraphFormat {
        if let format = GraphFormat.detect(beginning) { return format }
        if beginning.allSatisfy({ $0 <= 0x20 }) { throw DocumentError(.truncated, "The document is empty.") }
        throw DocumentError(.syntax, "The document is of no format that is known here.")
    }

    private func beginning(of url: URL) throws -> Data {
        let source = try FileSource(path: url.path)
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = try piece.withUnsafeMutableBytes { try source.read(into: $0) }
        return Data(piece[..<count])
    }
}
