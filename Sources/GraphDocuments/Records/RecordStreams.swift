/// Takes records one by one and writes them to a document.
///
/// `begin` comes first and once, `finish` last and once; a writer that is dropped before has written no document.
public protocol RecordWriter {
    /// Writes what stands before the records.
    mutating func begin(_ header: DocumentHeader) throws
    /// Writes one record. Shapes that group by entity expect the records of one entity after each other.
    mutating func write(_ record: GraphRecord) throws
    /// Writes what stands after the records and hands the document over.
    mutating func finish() throws
    /// The records written so far.
    var recordCount: Int { get }
}

/// Gives the records of a document one by one.
public protocol RecordReader {
    /// What the document says of itself. Read when the reader is made; nil for a document without a header.
    var header: DocumentHeader? { get }
    /// The next record, or nil after the last. Throws `DocumentError`; after an error there are no more records.
    mutating func next() throws -> GraphRecord?
    /// The bytes consumed so far, for progress.
    var bytesRead: Int { get }
    /// The size of the document in bytes, where it is known.
    var byteCount: Int? { get }
}

/// Gives the records of a document with their places: what an importer reads.
public protocol DocumentReader: RecordReader {
    /// The next record and where it stands, or nil after the last.
    mutating func nextPlaced() throws -> PlacedRecord?
}

extension DocumentReader {
    public mutating func next() throws -> GraphRecord? {
        try nextPlaced()?.record
    }
}
