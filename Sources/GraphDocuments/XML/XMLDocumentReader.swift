import Foundation

/// Reads records from this library's XML. Streams; memory grows with depth, not with length. Documents with a document
/// type, or in another encoding than UTF-8, are rejected.
public struct XMLDocumentReader: DocumentReader {
    private var reader: TokenRecordReader<XMLTokens>

    /// Reads the header. The source is read on a separate thread, so nothing else may use it. Throws `DocumentError`.
    public init(_ source: any ByteSource, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        if let byteCount = source.byteCount, byteCount > options.limits.documentSize {
            throw DocumentError(
                .limit, "The document is larger than \(options.limits.documentSize) bytes.",
                at: DocumentPlace(offset: options.limits.documentSize))
        }
        let bytes = try XMLByteStream(source, limits: options.limits)
        let stream = XMLTokenStream(bytes, depthLimit: options.limits.depth)
        reader = try TokenRecordReader(
            XMLTokens(stream, byteCount: source.byteCount, limits: options.limits), schema: schema, options: options)
    }

    /// Reads the header of a document in memory. Throws `DocumentError`.
    public init(_ data: Data, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        try self.init(MemorySource(data), schema: schema, options: options)
    }

    /// Reads the header of a document in a file. Throws `DocumentError`.
    public init(path: String, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        try self.init(FileSource(path: path), schema: schema, options: options)
    }

    public var header: DocumentHeader? { reader.header }
    public var bytesRead: Int { reader.bytesRead }
    public var byteCount: Int? { reader.byteCount }
    public mutating func nextPlaced() throws -> PlacedRecord? { try reader.nextPlaced() }
}

/// The tokens of an XML document. Its parser reports lines and columns, but no byte offsets.
struct XMLTokens: TokenSource {
    private let owner: XMLTokenStreamOwner
    private var batch: ArraySlice<XMLToken> = []
    private var current = XMLToken(token: .end)
    private let limits: DocumentLimits
    let byteCount: Int?
    private(set) var depth = 0
    private var isFinished = false

    init(_ stream: XMLTokenStream, byteCount: Int?, limits: DocumentLimits) {
        owner = XMLTokenStreamOwner(stream)
        self.byteCount = byteCount
        self.limits = limits
    }

    /// Known only at the end.
    var bytesRead: Int { isFinished ? byteCount ?? 0 : 0 }

    mutating func next() throws -> DocumentToken {
        if batch.isEmpty, !isFinished {
            if let next = try owner.stream.next() { batch = next[...] } else { isFinished = true }
        }
        guard let token = batch.popFirst() else {
            current.token = .end
            return .end
        }
        current = token
        switch token.token {
        case .beginArray, .beginObject: depth += 1
        case .endArray, .endObject: depth -= 1
        case .key where token.text.utf8.count > limits.keyLength:
            throw DocumentError(.limit, "A key is longer than \(limits.keyLength) bytes.", at: place)
        case .string where token.text.utf8.count > limits.stringLength:
            throw DocumentError(.limit, "A string is longer than \(limits.stringLength) bytes.", at: place)
        default: break
        }
        return token.token
    }

    mutating func skipValue(after token: DocumentToken) throws {
        guard token == .beginArray || token == .beginObject else { return }
        let outside = depth - 1
        while depth > outside, try next() != .end {}
    }

    func tokenText() -> String { current.text }

    func textIs(_ text: [UInt8]) -> Bool { current.text.utf8.elementsEqual(text) }

    func value(_ token: DocumentToken, as type: GraphValueType) throws -> GraphValue {
        switch token {
        case .null: .null
        case .true: .bool(true)
        case .false: .bool(false)
        default: TextValue.anyValue(current.text, as: type) ?? .string(current.text)
        }
    }

    var mark: PlaceMark { PlaceMark(offset: 0, line: current.line, column: current.column) }
    var place: DocumentPlace { DocumentPlace(offset: 0, line: current.line, column: current.column) }
}
