import CoreData
import GraphDocuments

/// The source of an import: a document in memory or in a file, of any format, or records.
///
///     let notes = try context.importObjects(from: .file(url), as: Note.self)
public struct ImportSource {
    enum Content {
        case data(Data)
        case file(URL)
        case dictionary(Any)
        case records([GraphRecord], header: DocumentHeader?)
        /// Records with their positions in a document without a header, for example read by `ForeignDocument`.
        case placedRecords([PlacedRecord])
    }

    let content: Content

    /// A document in memory, of any format.
    public static func data(_ data: Data) -> Self { Self(content: .data(data)) }

    /// A document in a file, of any format.
    public static func file(_ url: URL) -> Self { Self(content: .file(url)) }

    /// A dictionary or an array of dictionaries, created by `GraphExporter` or `JSONSerialization`.
    public static func dictionary(_ document: Any) -> Self { Self(content: .dictionary(document)) }

    /// Records in memory.
    public static func records(_ records: [GraphRecord]) -> Self { .records(records, header: nil) }

    /// Records, with the header that their document would have.
    package static func records(_ records: [GraphRecord], header: DocumentHeader?) -> Self {
        Self(content: .records(records, header: header))
    }

    package static func placedRecords(_ records: [PlacedRecord]) -> Self { Self(content: .placedRecords(records)) }

    /// Whether the source is the data of a document, which, unlike a dictionary, contains no objects of the application.
    var isDocument: Bool {
        switch content {
        case .data, .file: true
        case .dictionary, .records, .placedRecords: false
        }
    }

    /// The document's header; nil if it has none. Reads the document's beginning.
    ///
    /// Throws `DocumentError`.
    package func header(schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws -> DocumentHeader? {
        if case .records(_, let header) = content { return header }
        if case .placedRecords = content { return nil }
        return try reader(schema: schema, options: options).header
    }

    /// Reads all records into a payload. Throws `DocumentError`, and `CocoaError.userCancelled` if the progress is
    /// cancelled.
    func read(into payload: ImportPayload, options: ReadingOptions, progress: Progress?) throws {
        switch content {
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

    /// A reader of the document; throws for `.records` and `.placedRecords`, which need none.
    package func reader(
        schema: GraphSchema, options: ReadingOptions, mapping: MappingPlan? = nil
    ) throws -> any DocumentReader {
        if let mapping { return try reader(mapping: mapping, options: options) }
        switch content {
        case .data(let data):
            return try format(of: data).reader(of: data, schema: schema, options: options)
        case .file(let url):
            let named = GraphFormat(fileExtension: url.pathExtension)
            // The content determines the format, not the name; JSON Lines are the exception, because they begin as JSON
            // does.
            let format = try named == .jsonLines ? .jsonLines : format(of: beginning(of: url))
            return try format.reader(ofFile: url.path, schema: schema, options: options)
        case .dictionary(let document):
            return try DictionaryDocumentReader(document, schema: schema, options: options)
        case .records, .placedRecords: throw ImportError(.misuse, "Records have no document reader.")
        }
    }

    private func reader(mapping: MappingPlan, options: ReadingOptions) throws -> any DocumentReader {
        switch content {
        case .data(let data): return try format(of: data).reader(of: data, plan: mapping, options: options)
        case .file(let url):
            let named = GraphFormat(fileExtension: url.pathExtension)
            let format = try named == .jsonLines ? .jsonLines : format(of: beginning(of: url))
            return try format.reader(ofFile: url.path, plan: mapping, options: options)
        case .dictionary(let document): return try mappedReader(of: document, plan: mapping, options: options)
        case .records, .placedRecords: throw ImportError(.misuse, "Records have no document reader.")
        }
    }

    /// The bytes of a JSON document; nil for other sources.
    package func plainJSON() throws -> (any ByteSource)? {
        switch content {
        case .data(let data): return try format(of: data) == .json ? MemorySource(data) : nil
        case .file(let url):
            guard GraphFormat(fileExtension: url.pathExtension) != .jsonLines,
                try format(of: beginning(of: url)) == .json
            else { return nil }
            return try FileSource(path: url.path)
        case .dictionary, .records, .placedRecords: return nil
        }
    }

    private func format(of beginning: Data) throws -> GraphFormat { try GraphFormat.ofDocument(beginning: beginning) }

    private func beginning(of url: URL) throws -> Data {
        let source = try FileSource(path: url.path)
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = try piece.withUnsafeMutableBytes { try source.read(into: $0) }
        return Data(piece[..<count])
    }
}

extension ImportSource {
    /// A document of ExtendedManagedObject, its forks, KVCBaseObject, or CDSerialization.
    ///
    /// Throws `DocumentError` for a document of any other kind.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - model: The model of its objects.
    ///   - entity: The entity of objects at the top that do not state their class, as in documents of KVCBaseObject.
    public static func foreign(
        _ data: Data, model: NSManagedObjectModel, entity: String? = nil
    ) throws -> ImportSource {
        .placedRecords(try ForeignDocument.records(of: data, schema: GraphSchema(model), entity: entity))
    }

    /// A dictionary of one of these libraries.
    public static func foreign(
        dictionary: Any, model: NSManagedObjectModel, entity: String? = nil
    ) throws -> ImportSource {
        .placedRecords(
            try ForeignDocument.records(ofFoundationObject: dictionary, schema: GraphSchema(model), entity: entity))
    }
}

extension ImportSource {
    /// Reads the document up to the last of some records, and returns these.
    ///
    /// - Parameter numbers: The positions of the records among those of the document, from 0.
    /// Throws `DocumentError`.
    package func records(
        _ numbers: Set<Int>, model: ImportModel, reading: ReadingOptions
    ) throws -> [(number: Int, record: PlacedRecord)] {
        var found: [(number: Int, record: PlacedRecord)] = []
        var reader = try reader(schema: model.schema, options: reading)
        var number = 0
        while found.count < numbers.count, let record = try reader.nextPlaced() {
            if numbers.contains(number) { found.append((number, record)) }
            number += 1
        }
        return found
    }
}
