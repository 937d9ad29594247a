/// Writes records one by one through any format's `GraphWriter`, with relationships as references.
package struct GraphRecordWriter<Writer: GraphWriter>: RecordWriter {
    private var writer: Writer
    private let schema: GraphSchema
    private var state = State.new
    package private(set) var recordCount = 0

    private enum State { case new, begun, finished }

    /// Creates a writer of records whose attributes have the schema's types.
    package init(_ writer: Writer, schema: GraphSchema) {
        self.writer = writer
        self.schema = schema
    }

    package mutating func begin(_ header: DocumentHeader) throws {
        guard state == .new else { throw DocumentError(.misuse, "The document has already begun.") }
        state = .begun
        try writer.begin(header)
    }

    package mutating func write(_ record: GraphRecord) throws {
        guard state == .begun else { throw DocumentError(.misuse, "The document is not open for records.") }
        try writer.write(record, of: schema.entity(record.entity))
        recordCount += 1
    }

    package mutating func finish() throws {
        guard state == .begun else { throw DocumentError(.misuse, "The document is not open.") }
        state = .finished
        try writer.finish()
    }
}
