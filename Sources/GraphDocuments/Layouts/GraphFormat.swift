import Foundation

/// The formats that documents are written in.
public enum GraphFormat: String, Sendable, Hashable, CaseIterable {
    /// JSON (RFC 8259).
    case json
    /// JSON Lines: the header on the first line, then one record a line.
    case jsonLines = "jsonl"
    /// A binary property list.
    case propertyList = "plist"
    /// A property list in XML.
    case xmlPropertyList = "xmlplist"
    /// This library's own XML, with a RELAX NG schema.
    case xml

    /// Whether documents are streamed. Others are held in memory while they are written and read.
    package var streams: Bool {
        switch self {
        case .json, .jsonLines, .xml: true
        case .propertyList, .xmlPropertyList: false
        }
    }

    /// A writer of records, with relationships as references: the flat layout, or lines.
    package func recordWriter(to output: ByteOutput, schema: GraphSchema) throws -> any RecordWriter {
        func writer(_ graph: some GraphWriter) -> any RecordWriter { GraphRecordWriter(graph, schema: schema) }
        return writer(try graphWriter(to: output, layout: self == .jsonLines ? .lines : .flat))
    }

    /// A writer of a graph, which for the nested layout a `NestedWalk` calls. Throws `DocumentError` for an unsupported
    /// layout.
    package func graphWriter(to output: ByteOutput, layout: DocumentLayout) throws -> any GraphWriter {
        switch self {
        case .json: try JSONGraphWriter(to: output, layout: layout)
        case .jsonLines:
            if layout == .lines || layout == .flat {
                try JSONGraphWriter(to: output, layout: .lines)
            } else {
                throw DocumentError(.misuse, "JSON Lines have no \(layout.rawValue) layout.")
            }
        case .propertyList: try PropertyListGraphWriter(to: output, encoding: .binary, layout: layout)
        case .xmlPropertyList: try PropertyListGraphWriter(to: output, encoding: .xml, layout: layout)
        case .xml: try XMLGraphWriter(to: output, layout: layout)
        }
    }

    /// A reader of the document. Reads its header. Throws `DocumentError`.
    package func reader(
        of data: Data, schema: GraphSchema, options: ReadingOptions = ReadingOptions()
    ) throws -> any DocumentReader {
        switch self {
        case .json, .jsonLines:
            try JSONDocumentReader(data, schema: schema, options: jsonOptions(options))
        case .propertyList, .xmlPropertyList:
            try PropertyListDocumentReader(data, schema: schema, options: options)
        case .xml: try XMLDocumentReader(data, schema: schema, options: options)
        }
    }

    /// A reader of the document in a file. JSON and XML are streamed. Reads its header. Throws `DocumentError`.
    package func reader(
        ofFile path: String, schema: GraphSchema, options: ReadingOptions = ReadingOptions()
    ) throws -> any DocumentReader {
        switch self {
        case .json, .jsonLines:
            return try JSONDocumentReader(FileSource(path: path), schema: schema, options: jsonOptions(options))
        case .propertyList, .xmlPropertyList:
            let source = try FileSource(path: path)
            let sizeLimit = min(options.limits.documentSize, PropertyListDocumentReader.sizeLimit)
            let data = try source.readAll(atMost: sizeLimit)
            return try PropertyListDocumentReader(data, schema: schema, options: options)
        case .xml: return try XMLDocumentReader(path: path, schema: schema, options: options)
        }
    }

    private func jsonOptions(_ options: ReadingOptions) -> ReadingOptions {
        var options = options
        if self == .jsonLines, options.layout == nil { options.layout = .lines }
        return options
    }

    /// The format detected from a document's first bytes, or nil. JSON and JSON Lines cannot be distinguished here: the
    /// header does that.
    package static func detect(_ beginning: Data) -> GraphFormat? {
        if beginning.starts(with: Array("bplist".utf8)) { return .propertyList }
        let rest = content(of: beginning)
        switch rest.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .json
        case UInt8(ascii: "<"):
            let text = String(decoding: rest.prefix(1024), as: UTF8.self)
            return text.contains("<plist") || text.contains("<!DOCTYPE plist") ? .xmlPropertyList : .xml
        default: return nil
        }
    }

    /// The format detected from a document's first bytes. Throws `DocumentError` that says what they are if there is none.
    package static func ofDocument(beginning: Data) throws -> GraphFormat {
        let rest = content(of: beginning)
        let text = String(decoding: rest.prefix(128), as: UTF8.self)
        let words = text.lowercased().split(whereSeparator: { $0.isWhitespace || $0 == ">" })
        if words.first == "<html" || words.starts(with: ["<!doctype", "html"]) {
            throw DocumentError(.unsupported, "This is an HTML page, not a document.")
        }
        if let format = detect(beginning) { return format }
        if rest.isEmpty { throw DocumentError(.truncated, "The document is empty.") }
        throw DocumentError(
            .syntax,
            "The document begins with \(quoted(text)): JSON, JSON lines, a property list or XML was expected.")
    }

    /// The bytes after a byte order mark and whitespace.
    private static func content(of beginning: Data) -> Data {
        var rest = beginning[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        return rest.drop { $0 <= 0x20 }
    }

    /// The first 20 characters of a text in quotes, with escapes for what cannot be printed.
    private static func quoted(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(20) {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                result += scalar.escaped(asASCII: true)
            default: result += scalar == "\"" || scalar == "\\" ? "\\\(scalar)" : "\(scalar)"
            }
        }
        return "\"\(result)\"" + (text.unicodeScalars.count > 20 ? "…" : "")
    }
}

extension ByteSource {
    /// Reads the rest of the source. Throws `DocumentError` if it exceeds the limit.
    package func readAll(atMost limit: Int = .max) throws -> Data {
        var data = Data()
        var piece = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = try piece.withUnsafeMutableBytes { try read(into: $0) }
            if count == 0 { return data }
            data.append(contentsOf: piece[..<count])
            guard data.count <= limit else {
                throw DocumentError(
                    .limit, "The document is larger than \(limit) bytes.", at: DocumentPlace(offset: limit))
            }
        }
    }
}

/// Options for reading a document.
package struct ReadingOptions: Sendable {
    /// The limits.
    package var limits: DocumentLimits
    /// Whether a trailing comma is accepted before a closing bracket.
    package var allowsTrailingCommas: Bool
    /// The layout, if the document does not contain it: needed for `.lines` and `.plain` only.
    package var layout: DocumentLayout?
    /// The entity of top-level objects without one. With it, the document may also be a single object or an array of
    /// objects.
    package var rootEntity: String?
    /// The natural keys of the plain layout.
    package var plainLayout: PlainLayout?
    /// Whether a value that does not fit its declared type is passed on with the type of the format, for the importer
    /// to convert or reject. Otherwise it is an error.
    package var keepsMismatchedValues: Bool
    /// The treatment of records whose entity the schema does not have.
    package var unknownEntities: UnknownEntityPolicy

    /// The treatment of records whose entity the schema does not have.
    package enum UnknownEntityPolicy: Sendable, Hashable {
        /// An error.
        case fail
        /// They are skipped, with all nested records.
        case skip
    }

    /// Creates options; those not given have their default.
    package init(
        limits: DocumentLimits = .standard, allowsTrailingCommas: Bool = false, layout: DocumentLayout? = nil,
        rootEntity: String? = nil, plainLayout: PlainLayout? = nil, keepsMismatchedValues: Bool = false,
        unknownEntities: UnknownEntityPolicy = .fail
    ) {
        self.limits = limits
        self.allowsTrailingCommas = allowsTrailingCommas
        self.layout = layout
        self.rootEntity = rootEntity
        self.plainLayout = plainLayout
        self.keepsMismatchedValues = keepsMismatchedValues
        self.unknownEntities = unknownEntities
    }
}
