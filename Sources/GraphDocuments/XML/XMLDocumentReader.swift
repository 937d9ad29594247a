import Foundation
import XMLReading

/// Reads records from this library's XML. Streams; memory grows with depth, not with length. Documents with a document
/// type, or in an encoding that is not UTF-8, are rejected.
package struct XMLDocumentReader: DocumentReader {
    private var reader: TokenRecordReader<XMLTokens>

    /// Reads the header. Throws `DocumentError`.
    package init(_ source: any ByteSource, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        if let byteCount = source.byteCount, byteCount > options.limits.documentSize {
            throw DocumentError(
                .limit, "The document is larger than \(options.limits.documentSize) bytes.",
                at: DocumentPlace(offset: options.limits.documentSize))
        }
        reader = try TokenRecordReader(
            XMLTokens(source, limits: options.limits), schema: schema, options: options)
    }

    /// Reads the header of a document in memory. Throws `DocumentError`.
    package init(_ data: Data, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        try self.init(MemorySource(data), schema: schema, options: options)
    }

    /// Reads the header of a document in a file. Throws `DocumentError`.
    package init(path: String, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        try self.init(FileSource(path: path), schema: schema, options: options)
    }

    package var header: DocumentHeader? { reader.header }
    package var bytesRead: Int { reader.bytesRead }
    package var byteCount: Int? { reader.byteCount }
    package mutating func nextPlaced() throws -> PlacedRecord? { try reader.nextPlaced() }
}

/// The tokens of an XML document.
struct XMLTokens: TokenSource {
    private var tokenizer: XMLTokenizer
    private var current = XMLToken(token: .end)
    private let limits: DocumentLimits
    let byteCount: Int?
    private(set) var depth = 0
    private var isFinished = false

    init(_ source: any ByteSource, limits: DocumentLimits) {
        byteCount = source.byteCount
        self.limits = limits
        var rest = limits.documentSize
        let reader = XMLReader(documentTypes: .none) { buffer in
            let count = try source.read(into: buffer)
            rest -= count
            guard rest >= 0 else {
                throw DocumentError(
                    .limit, "The document is larger than \(limits.documentSize) bytes.",
                    at: DocumentPlace(offset: limits.documentSize))
            }
            return count
        }
        tokenizer = XMLTokenizer(reader, depthLimit: limits.depth)
    }

    /// The position of the last token; the whole document at its end.
    var bytesRead: Int { isFinished ? byteCount ?? current.place.offset : current.place.offset }

    mutating func next() throws -> DocumentToken {
        guard let token = try tokenizer.next() else {
            isFinished = true
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

    /// Nil: the entity is an attribute of its element, and the header is the first element.
    func treeAhead(under name: [UInt8]) -> ReadableValue? { nil }

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

    var mark: PlaceMark {
        PlaceMark(offset: current.place.offset, line: current.place.line, column: current.place.column)
    }
    var place: DocumentPlace { DocumentPlace(current.place) }
}

extension DocumentError {
    /// The error for malformed XML.
    init(_ error: XMLError) {
        let code: Code =
            switch error.code {
            case .truncated: .truncated
            case .invalidText: .invalidText
            case .documentType: .unsupported
            default: .syntax
            }
        self.init(code, error.message, at: error.place.map(DocumentPlace.init))
    }
}

extension DocumentPlace {
    init(_ place: XMLPlace) { self.init(offset: place.offset, line: place.line, column: place.column) }
}

extension XMLReader {
    /// An error at the last event.
    func error(_ code: DocumentError.Code, _ message: String) -> DocumentError {
        DocumentError(code, message, at: DocumentPlace(place))
    }

    /// Throws if the XML declaration states an encoding in which the document is not read.
    func checkEncoding() throws {
        guard let encoding = declaredEncoding?.lowercased(), !["utf-8", "utf8", "us-ascii"].contains(encoding) else {
            return
        }
        throw DocumentError(
            .unsupported, "The XML is not in UTF-8.", at: DocumentPlace(offset: 0, line: 1, column: 1))
    }
}
