/// Builds a graph as one tree of dictionaries and arrays, flat or nested. The whole document is in memory.
struct TreeGraphWriter: GraphWriter {
    let style: TreeStyle
    let layout: DocumentLayout
    private var header: ReadableValue?
    /// The top-level objects, by entity in the flat layout, all under one name in the nested layout.
    private var groups: [(name: String, objects: [ReadableValue])] = []
    private var open: [Object] = []

    /// An object that is being built, with its open relationship.
    private struct Object {
        var members: [ReadableValue.Member] = []
        var relationship: String?
        var isToMany = false
        var targets: [ReadableValue] = []
    }

    init(style: TreeStyle, layout: DocumentLayout) throws {
        guard layout == .flat || layout == .nested else {
            throw DocumentError(.misuse, "Dictionaries and property lists are flat or nested, not \(layout.rawValue).")
        }
        self.style = style
        self.layout = layout
    }

    /// The document so far.
    var document: ReadableValue {
        var members: [ReadableValue.Member] = []
        if let header { members.append(.init(name: RecordMember.header, value: header)) }
        for group in groups { members.append(.init(name: group.name, value: .array(group.objects))) }
        return .dictionary(members)
    }

    /// The top-level objects, in the order written.
    var objects: [ReadableValue] { groups.flatMap(\.objects) }

    mutating func begin(_ header: DocumentHeader) throws {
        var header = header
        header.layout = layout
        self.header = style.tree(header.tree)
        if layout == .nested { groups = [(RecordMember.objects, [])] }
    }

    mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        var object = Object()
        if open.isEmpty {
            let name = layout == .flat ? entity : RecordMember.objects
            if groups.last?.name != name {
                guard !groups.contains(where: { $0.name == name }) else {
                    throw DocumentError(
                        .misuse, "In a flat document the records of \(entity) must come one after the other.")
                }
                groups.append((name, []))
            }
        } else {
            try checkRelationship()
        }
        if let id { object.members.append(.init(name: RecordMember.id, value: .value(.string(id.text)))) }
        if layout != .flat || !open.isEmpty {
            object.members.append(.init(name: RecordMember.entity, value: .value(.string(entity))))
        }
        if isDeleted { object.members.append(.init(name: RecordMember.deleted, value: .value(.bool(true)))) }
        open.append(object)
    }

    mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) throws {
        try add(name, style.tree(value, declaredAs: type))
    }

    mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws {
        guard let top = open.indices.last else { throw DocumentError(.misuse, "No object is open.") }
        open[top].relationship = name
        open[top].isToMany = isToMany
        open[top].targets = []
    }

    mutating func reference(_ id: RecordID) throws {
        let top = try checkRelationship()
        let text = ReadableValue.value(.string(id.text))
        open[top].targets.append(
            layout == .nested ? .dictionary([.init(name: RecordMember.reference, value: text)]) : text)
    }

    @discardableResult
    private func checkRelationship() throws -> Int {
        guard let top = open.indices.last, open[top].relationship != nil,
            open[top].isToMany || open[top].targets.isEmpty
        else {
            throw DocumentError(.misuse, "An object or reference is not in a relationship, or a to-one has two.")
        }
        return top
    }

    mutating func endRelationship() throws {
        guard let top = open.indices.last, let name = open[top].relationship else {
            throw DocumentError(.misuse, "No relationship is open.")
        }
        let targets = open[top].targets
        open[top].relationship = nil
        open[top].targets = []
        try add(name, open[top].isToMany ? .array(targets) : targets.first ?? style.null)
    }

    mutating func nullRelationship(_ name: String) throws {
        try add(name, style.null)
    }

    private mutating func add(_ name: String, _ value: ReadableValue) throws {
        guard let top = open.indices.last else { throw DocumentError(.misuse, "No object is open.") }
        open[top].members.append(.init(name: name, value: value))
    }

    mutating func endObject() throws {
        guard let object = open.popLast() else { throw DocumentError(.misuse, "No object is open.") }
        let tree = ReadableValue.dictionary(object.members)
        if let top = open.indices.last {
            open[top].targets.append(tree)
        } else if let last = groups.indices.last {
            groups[last].objects.append(tree)
        }
    }

    mutating func finish() throws {
        guard open.isEmpty else { throw DocumentError(.misuse, "An object is still open.") }
    }
}

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
