import Foundation

/// Reads records from JSON of any layout: flat, nested, lines, plain.
///
/// Streams: memory grows with the depth of the document and the largest array of ids, not with its length.
package struct JSONDocumentReader: DocumentReader {
    private var reader: TokenRecordReader<JSONReader>

    /// Reads the header. Throws `DocumentError`.
    package init(_ source: any ByteSource, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        let json = JSONReader(
            source,
            options: .init(allowsTrailingCommas: options.allowsTrailingCommas, allowsManyValues: true),
            limits: options.limits)
        reader = try TokenRecordReader(json, schema: schema, options: options)
    }

    /// Reads the header of a document in memory. Throws `DocumentError`.
    package init(_ data: Data, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        try self.init(MemorySource(data), schema: schema, options: options)
    }

    package var header: DocumentHeader? { reader.header }
    package var bytesRead: Int { reader.bytesRead }
    package var byteCount: Int? { reader.byteCount }
    package mutating func nextPlaced() throws -> PlacedRecord? { try reader.nextPlaced() }
}
