/// Writes a graph as JSON: flat, nested, or as JSON Lines. Streams; memory does not grow with the document.
///
/// In every layout each record is on a line of its own, so that two documents can be compared line by line.
package struct JSONGraphWriter: GraphWriter {
    private var writer: JSONWriter
    private let layout: DocumentLayout
    private var keys = JSONKeyCache()
    /// The entity whose array is open, in the flat layout.
    private var group: String?
    private var closedGroups: Set<String> = []
    private var isInArray = false
    private var relationships: [Relationship] = []
    private var depth = 0
    /// The number of records at the top.
    private var count = 0

    private struct Relationship {
        var isToMany: Bool
        var isEmpty = true
    }

    /// Creates a writer to the output. Throws `DocumentError` for the plain layout, which has a writer of its own.
    package init(to output: ByteOutput, layout: DocumentLayout) throws {
        guard layout != .plain else { throw DocumentError(.misuse, "The plain layout is written by PlainJSONWriter.") }
        writer = JSONWriter(to: output)
        self.layout = layout
    }

    package mutating func begin(_ header: DocumentHeader) throws {
        var header = header
        header.layout = layout
        header.endIsUnknown = false
        try writer.beginObject()
        try writer.key(RecordMember.header)
        try writer.tree(header.tree)
        if layout == .lines {
            try writer.endObject()
            try writer.endLine()
        } else if layout == .nested {
            try writer.lineBreak()
            try writer.key(RecordMember.objects)
            try writer.beginArray()
            isInArray = true
        }
    }

    package mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        if depth == 0 {
            count += 1
            if layout == .flat { try openGroup(entity) }
            if layout != .lines { try writer.lineBreak() }
        } else {
            try noteContent()
        }
        depth += 1
        try writer.beginObject()
        if let id {
            try key(RecordMember.id)
            try writer.string(id.text)
        }
        if layout != .flat || depth > 1 {
            try key(RecordMember.entity)
            try writer.string(entity)
        }
        if isDeleted {
            try key(RecordMember.deleted)
            try writer.bool(true)
        }
    }

    private mutating func openGroup(_ entity: String) throws {
        guard entity != group else { return }
        try closeGroup()
        guard closedGroups.insert(entity).inserted else {
            throw DocumentError(.misuse, "In a flat document the records of \(entity) must come one after the other.")
        }
        try writer.lineBreak()
        try writer.key(entity)
        try writer.beginArray()
        isInArray = true
        group = entity
    }

    private mutating func closeGroup() throws {
        guard isInArray else { return }
        try writer.endLine()
        try writer.endArray()
        isInArray = false
    }

    package mutating func attribute(
        _ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?
    ) throws {
        try key(name)
        try writer.value(value, declaredAs: type)
    }

    package mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws {
        try key(name)
        relationships.append(Relationship(isToMany: isToMany))
        if isToMany { try writer.beginArray() }
    }

    package mutating func reference(_ id: RecordID) throws {
        try noteContent()
        guard layout == .nested else { return try writer.string(id.text) }
        try writer.beginObject()
        try key(RecordMember.reference)
        try writer.string(id.text)
        try writer.endObject()
    }

    private mutating func noteContent() throws {
        guard let last = relationships.indices.last, relationships[last].isToMany || relationships[last].isEmpty else {
            throw DocumentError(.misuse, "An object or reference is not in a relationship, or a to-one has two.")
        }
        relationships[last].isEmpty = false
    }

    package mutating func endRelationship() throws {
        guard let relationship = relationships.popLast() else {
            throw DocumentError(.misuse, "No relationship is open.")
        }
        if relationship.isToMany {
            try writer.endArray()
        } else if relationship.isEmpty {
            try writer.null()
        }
    }

    package mutating func nullRelationship(_ name: String) throws {
        try key(name)
        try writer.null()
    }

    package mutating func endObject() throws {
        depth -= 1
        try writer.endObject()
        if depth == 0, layout == .lines { try writer.endLine() }
    }

    package mutating func finish() throws {
        try closeGroup()
        if layout == .lines {
            try writer.endLine(ofDocumentWith: count)
        } else {
            try writer.endObject()
            try writer.endLine()
        }
        try writer.output.finish()
    }

    private mutating func key(_ name: String) throws {
        try writer.key(try keys.key(name))
    }
}

extension JSONWriter {
    /// Writes the last line of a document in lines, without which it is cut off.
    mutating func endLine(ofDocumentWith count: Int) throws {
        try beginObject()
        try key(RecordMember.end)
        try value(.integer(Int64(count)), declaredAs: nil)
        try endObject()
        try endLine()
    }
}
