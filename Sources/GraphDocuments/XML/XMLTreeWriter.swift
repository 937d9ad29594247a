/// Writes trees of plain values in this library's XML: the header and readable archives of graph documents, and
/// documents of trees.
struct XMLTreeWriter {
    let output: ByteOutput

    init(to output: ByteOutput) { self.output = output }

    /// Writes the declaration and the start tag of the document's element.
    func beginDocument(_ element: StaticString) throws {
        try output.write(literal: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<")
        try output.write(literal: element)
        try output.write(literal: " xmlns=\"")
        try output.write(XMLDocumentSchema.namespace)
        try output.write(literal: "\">\n")
    }

    /// Writes the end tag of the document's element.
    func endDocument(_ element: StaticString) throws {
        try output.write(literal: "</")
        try output.write(literal: element)
        try output.write(literal: ">\n")
    }

    /// Writes a tree. Recursive to the depth of the tree, which its writer limits.
    func tree(_ value: ReadableValue) throws {
        switch value {
        case .array(let values):
            try output.write(literal: "<array>")
            for value in values { try tree(value) }
            try output.write(literal: "</array>")
        case .dictionary(let members):
            try output.write(literal: "<dictionary>")
            for member in members {
                try output.write(literal: "<entry")
                // A key may be any text, unlike an XML attribute, so keys are always escaped, which is rarely
                // necessary.
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

    /// Writes a named value. Recursive for composites, to the depth of the value.
    func element(
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
            try attribute("type", file.isMissing ? "missing" : "file")
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

    /// Closes a start tag and writes text, escaped if XML cannot represent it.
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

    /// Writes an attribute of the open start tag.
    func attribute(_ name: StaticString, _ value: String) throws {
        var value = value
        try value.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            guard XMLText.canHold(bytes) else {
                throw DocumentError(
                    .notRepresentable,
                    "The \(name) \"\(XMLText.escaped(String(decoding: bytes, as: UTF8.self)))\" is not valid in XML."
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
