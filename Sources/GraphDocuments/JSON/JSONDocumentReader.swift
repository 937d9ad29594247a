import Foundation

/// Reads records from JSON of any layout: flat, nested, lines, plain.
///
/// Streams: memory grows with the depth of the document and the largest array of ids, not with its length.
public struct JSONDocumentReader: DocumentReader {
    private var reader: TokenRecordReader<JSONReader>

    /// Reads the header. Throws `DocumentError`.
    public init(_ source: any ByteSource, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        let json = JSONReader(
            source,
            options: .init(allowsTrailingCommas: options.allowsTrailingCommas, allowsManyValues: true),
            limits: options.limits)
        reader = try TokenRecordReader(json, schema: schema, options: options)
    }

    /// Reads the header of a document in memory. Throws `DocumentError`.
    public init(_ data: Data, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        try self.init(MemorySource(data), schema: schema, options: options)
    }

    public var header: DocumentHeader? { reader.header }
    public var bytesRead: Int { reader.bytesRead }
    public var byteCount: Int? { reader.byteCount }
    public mutating func nextPlaced() throws -> PlacedRecord? { try reader.nextPlaced() }
}
