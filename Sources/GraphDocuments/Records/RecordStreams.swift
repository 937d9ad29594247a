/// Writes records one by one to a document.
///
/// `begin` is called first and once, `finish` last and once; without `finish` no document is written.
package protocol RecordWriter {
    /// Writes the part of the document before the records.
    mutating func begin(_ header: DocumentHeader) throws
    /// Writes one record. Layouts that group by entity require the records of one entity to be consecutive.
    mutating func write(_ record: GraphRecord) throws
    /// Writes the part of the document after the records and completes it.
    mutating func finish() throws
    /// The number of records written so far.
    var recordCount: Int { get }
}

/// Reads the records of a document one by one.
package protocol RecordReader {
    /// The header of the document. Read when the reader is created; nil for a document without a header.
    var header: DocumentHeader? { get }
    /// The next record, or nil after the last. Throws `DocumentError`; after an error there are no more records.
    mutating func next() throws -> GraphRecord?
    /// The bytes consumed so far, for progress.
    var bytesRead: Int { get }
    /// The size of the document in bytes, if it is known.
    var byteCount: Int? { get }
}

/// Reads the records of a document with their positions, for an importer.
package protocol DocumentReader: RecordReader {
    /// The next record with its position, or nil after the last.
    mutating func nextPlaced() throws -> PlacedRecord?
}

extension DocumentReader {
    package mutating func next() throws -> GraphRecord? {
        try nextPlaced()?.record
    }
}
