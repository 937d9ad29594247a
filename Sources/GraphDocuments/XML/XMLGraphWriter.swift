/// Writes a graph as XML of our own, flat or nested, by the schema that `XMLDocumentSchema.text` publishes. Streams.
///
/// Text that XML cannot hold (control characters) stands in an element with `escaped="true"`, as `\uXXXX`.
public struct XMLGraphWriter: GraphWriter {
    private let output: ByteOutput
    private let shape: DocumentShape
    private var depth = 0
    private var isInRelationship = false

    /// A writer to the output. Throws `DocumentError` for other shapes than flat and nested.
    public init(to output: ByteOutput, shape: DocumentShape) throws {
        guard shape == .flat || shape == .nested else {
            throw DocumentError(.misuse, "XML documents are flat or nested, not \(shape.rawValue).")
        }
        self.output = output
        self.shape = shape
    }

    public mutating func begin(_ header: DocumentHeader) throws {
        var header = header
        header.shape = shape
        try output.write(literal: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graph xmlns=\"")
        try output.write(XMLDocumentSchema.namespace)
        try output.write(literal: "\">\n<header>")
        try tree(header.tree)
        try output.write(literal: "</header>\n")
    }

    public mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        try output.write(literal: "<object")
        try attribute("entity", entity)
        if let id { try attribute("id", id.text) }
        if isDeleted { try output.write(literal: " deleted=\"true\"") }
        try output.write(literal: ">\n")
    }

    public mutating func attribute(
        _ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?
    ) throws {
        try element("attribute", named: name, value, declaredAs: type)
    }

    public mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws {
        try output.write(literal: "<relationship")
        try attribute("name", name)
        if isToMany { try output.write(literal: " many=\"true\"") }
        try output.write(literal: ">")
    }

    public mutating func reference(_ id: RecordID) throws {
        try output.write(literal: "<reference")
        try attribute("id", id.text)
        try output.write(literal: "/>")
    }

    public mutating func endRelationship() throws { try output.write(literal: "</relationship>\n") }

    public mutating func nullRelationship(_ name: String) throws {
        try output.write(literal: "<relationship")
        try attribute("name", name)
        try output.write(literal: " many=\"true\" null=\"true\"/>\n")
    }

    public mutating func endObject() throws { try output.write(literal: "</object>\n") }

    public mutating func finish() throws {
        try output.write(literal: "</graph>\n")
        try output.finish()
    }

    // MARK: - Values

    /// Writes a named value. Composites may hold composites: as deep as the value.
    private func element(
        _ element: StaticString, named name: String, _ value: GraphValue, declaredAs declared: GraphSchema.Attribute?
    ) throws {
        try output.write(UInt8(ascii: "<"))
        try output.write(literal: element)
        if !name.isEmpty { try attribute("name", name) }
        let type = declared?.type ?? .undefined
        switch value {
        case .null:
            return try output.write(literal: " null=\"true\"/>\n")
        case .composite(let members):
            try output.write(literal: " type=\"composite\">\n")
            let elements = type == .composite ? declared?.elements ?? [] : []
            for member in members {
                try self.element(
                    "member", named: member.name, member.value,
                    declaredAs: elements.first { $0.name == member.name })
            }
        case .transformable(let value):
            try output.write(literal: " type=\"transformable\">")
            if let archive = value.archive {
                try output.write(literal: "<archive>")
                try archive.withUnsafeBytes { try Base64.write($0, to: output) }
                try output.write(literal: "</archive>")
            }
            if let readable = value.readable {
                try output.write(literal: "<readable>")
                try tree(readable)
                try output.write(literal: "</readable>")
            }
        case .file(let file):
            try output.write(literal: " type=\"file\"")
            if let byteCount = file.byteCount { try attribute("size", String(byteCount)) }
            try text(file.path)
        default:
            if !value.fits(type) { try attribute("type", String(value.tag.rawValue.dropFirst())) }
            try scalar(value)
        }
        try output.write(literal: "</")
        try output.write(literal: element)
        try output.write(literal: ">\n")
    }

    /// Closes a start tag and writes the value's text.
    private func scalar(_ value: GraphValue) throws {
        switch value {
        case .data(let data):
            try output.write(UInt8(ascii: ">"))
            try data.withUnsafeBytes { try Base64.write($0, to: output) }
        case .date(let seconds):
            let start = try output.reserve(DateText.longest + 1)
            start.pointee = UInt8(ascii: ">")
            output.cursor.pointee.next = DateText.write(seconds, at: start + 1)
        case .string(let value), .uri(let value):
            try text(value)
        default:
            try output.write(UInt8(ascii: ">"))
            try output.write(TextValue.text(of: value) ?? "")
        }
    }

    /// Closes a start tag and writes text, escaped where XML cannot hold it.
    private func text(_ value: String) throws {
        var value = value
        try value.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            if XMLText.canHold(bytes) {
                try output.write(UInt8(ascii: ">"))
                try XMLText.write(bytes, to: output, inAttribute: false)
            } else {
                try output.write(literal: " escaped=\"true\">")
                try XMLText.write(XMLText.escaped(String(decoding: bytes, as: UTF8.self)), to: output)
            }
        }
    }

    private func tree(_ value: ReadableValue) throws {
        switch value {
        case .array(let values):
            try output.write(literal: "<array>")
            for value in values { try tree(value) }
            try output.write(literal: "</array>")
        case .dictionary(let members):
            try output.write(literal: "<dictionary>")
            for member in members {
                try output.write(literal: "<entry")
                // A key may be any text, and an XML attribute may not: escaped always, as it is rarely needed.
                try attribute("key", XMLText.escaped(member.name))
                try output.write(UInt8(ascii: ">"))
                try tree(member.value)
                try output.write(literal: "</entry>")
            }
            try output.write(literal: "</dictionary>")
        case .value(let leaf):
            try element("value", named: "", leaf, declaredAs: nil)
        }
    }

    private func attribute(_ name: StaticString, _ value: String) throws {
        var value = value
        try value.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            guard XMLText.canHold(bytes) else {
                throw DocumentError(
                    .notRepresentable,
                    "The \(name) \"\(XMLText.escaped(String(decoding: bytes, as: UTF8.self)))\" has characters that XML cannot hold."
                )
            }
            try output.write(UInt8(ascii: " "))
            try output.write(literal: name)
            try output.write(literal: "=\"")
            try XMLText.write(bytes, to: output, inAttribute: true)
            try output.write(UInt8(ascii: "\""))
        }
    }
}
