/// Writes a graph as this library's XML, flat or nested, with the schema `XMLDocumentSchema.text`. Streams.
///
/// Text that XML cannot represent (control characters) is in an element with `escaped="true"`, as `\uXXXX`.
package struct XMLGraphWriter: GraphWriter {
    private let output: ByteOutput
    private let values: XMLTreeWriter
    private let layout: DocumentLayout
    private var depth = 0

    /// Creates a writer to the output. Throws `DocumentError` for layouts that are neither flat nor nested.
    package init(to output: ByteOutput, layout: DocumentLayout) throws {
        guard layout == .flat || layout == .nested else {
            throw DocumentError(.misuse, "XML documents are flat or nested, not \(layout.rawValue).")
        }
        self.output = output
        values = XMLTreeWriter(to: output)
        self.layout = layout
    }

    package mutating func begin(_ header: DocumentHeader) throws {
        var header = header
        header.layout = layout
        try values.beginDocument("graph")
        try output.write(literal: "<header>")
        try values.tree(header.tree)
        try output.write(literal: "</header>\n")
    }

    package mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        try output.write(literal: "<object")
        try values.attribute("entity", entity)
        if let id { try values.attribute("id", id.text) }
        if isDeleted { try output.write(literal: " deleted=\"true\"") }
        try output.write(literal: ">\n")
    }

    package mutating func attribute(
        _ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?
    ) throws {
        try values.element("attribute", named: name, value, declaredAs: type)
    }

    package mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws {
        try output.write(literal: "<relationship")
        try values.attribute("name", name)
        if isToMany { try output.write(literal: " many=\"true\"") }
        try output.write(literal: ">")
    }

    package mutating func reference(_ id: RecordID) throws {
        try output.write(literal: "<reference")
        try values.attribute("id", id.text)
        try output.write(literal: "/>")
    }

    package mutating func endRelationship() throws { try output.write(literal: "</relationship>\n") }

    package mutating func nullRelationship(_ name: String) throws {
        try output.write(literal: "<relationship")
        try values.attribute("name", name)
        try output.write(literal: " many=\"true\" null=\"true\"/>\n")
    }

    package mutating func endObject() throws { try output.write(literal: "</object>\n") }

    package mutating func finish() throws {
        try values.endDocument("graph")
        try output.finish()
    }
}
