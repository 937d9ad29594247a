import Foundation

/// Writes records as *plain* JSON: arrays by entity, relationships as natural keys, no `$` members. Streams.
///
/// Records must come entity by entity, in the layout's order, with ids made from their keys (`RecordID.key`).
public struct PlainJSONWriter: RecordWriter, GraphWriter {
    private var writer: JSONWriter
    private let layout: PlainLayout
    private let schema: GraphSchema
    private let keys: PlainKeys
    private var entity = -1
    private var isBegun = false
    private var names = JSONKeyCache()
    public private(set) var recordCount = 0

    /// Creates a writer to the output. Throws `DocumentError` if the layout does not fit the schema.
    public init(to output: ByteOutput, layout: PlainLayout, schema: GraphSchema) throws {
        writer = JSONWriter(to: output)
        var groups = layout
        // Abstract entities are in a layout only because of their key.
        groups.entities.removeAll { schema.entity($0.name)?.isAbstract == true }
        self.layout = groups
        self.schema = schema
        keys = try PlainKeys(layout, schema: schema)
    }

    /// Begins the document. The plain shape has no header.
    public mutating func begin(_ header: DocumentHeader) throws {
        guard !isBegun else { throw DocumentError(.misuse, "The document has already begun.") }
        isBegun = true
        try writer.beginObject()
    }

    public mutating func write(_ record: GraphRecord) throws {
        guard isBegun else { throw DocumentError(.misuse, "The document is not open.") }
        guard !record.isDeleted else {
            throw DocumentError(.notRepresentable, "The plain shape has no tombstones (\(record.id)).")
        }
        while entity < 0 || layout.entities[entity].name != record.entity {
            guard entity + 1 < layout.entities.count else {
                throw DocumentError(
                    .misuse, "The layout has no \(record.entity) here: records must be in the order of its entities.")
            }
            try openNextGroup()
        }
        guard let declared = schema.entity(record.entity) else { return }
        try writer.lineBreak()
        try writer.beginObject()
        if let members = layout.entities[entity].members {
            for member in members { try write(member, of: record, declared) }
        } else {
            for attribute in declared.attributes { try write(attribute.name, of: record, declared) }
            for relationship in declared.relationships { try write(relationship.name, of: record, declared) }
        }
        try writer.endObject()
        recordCount += 1
    }

    public mutating func finish() throws {
        guard isBegun else { throw DocumentError(.misuse, "The document is not open.") }
        while entity + 1 < layout.entities.count { try openNextGroup() }
        if entity >= 0 { try writer.endArray() }
        try writer.endObject()
        try writer.endLine()
        try writer.output.finish()
        isBegun = false
    }

    /// Writes the parts of a record that the layout contains.
    public mutating func write(_ record: GraphRecord, of entity: GraphSchema.Entity?) throws { try write(record) }

    private mutating func openNextGroup() throws {
        if entity >= 0 { try writer.endArray() }
        entity += 1
        try writer.lineBreak()
        try writer.key(layout.entities[entity].name)
        try writer.beginArray()
    }

    private mutating func write(_ member: String, of record: GraphRecord, _ declared: GraphSchema.Entity) throws {
        if let attribute = declared.attribute(member) {
            guard let value = record.value(of: member) else { return }
            try key(member)
            try write(value, attribute)
        } else if let relationship = declared.relationship(member) {
            guard let target = record.target(of: member) else { return }
            try key(member)
            switch target {
            case .nullToMany, .toOne(nil): try writer.null()
            case .toOne(let id?): try reference(id, to: relationship.destination)
            case .toMany(let ids):
                try writer.beginArray()
                for id in ids { try reference(id, to: relationship.destination) }
                try writer.endArray()
            }
        }
    }

    private mutating func write(_ value: GraphValue, _ attribute: GraphSchema.Attribute) throws {
        switch (value, attribute.type) {
        case (.date(let seconds), .date) where layout.dates == .milliseconds: try writer.dateInMilliseconds(seconds)
        // The plain shape cannot represent missing files, because it has no `$` members. Exporters count such values.
        case (.file(let file), _) where file.isMissing: try writer.null()
        case (.decimal(let number), .decimal): try writer.decimal(number, asNumber: layout.decimals == .number)
        default: try writer.value(value, declaredAs: attribute)
        }
    }

    private mutating func reference(_ id: RecordID, to destination: String) throws {
        guard let values = id.keyValues, let leaves = keys.leaves[destination], leaves.count == values.count else {
            throw DocumentError.unnamed(id.description, destination)
        }
        if leaves.count > 1 { try writer.beginArray() }
        for (value, leaf) in zip(values, leaves) {
            // Numbers and booleans are written as such, everything else as text.
            switch TextValue.anyValue(value, as: leaf.type) {
            case .integer(let number): try writer.integer(number)
            case .double(let number): try writer.double(number)
            case .float(let number): try writer.float(number)
            case .bool(let flag): try writer.bool(flag)
            case .date(let seconds) where layout.dates == .milliseconds: try writer.dateInMilliseconds(seconds)
            default: try writer.string(value)
            }
        }
        if leaves.count > 1 { try writer.endArray() }
    }

    private mutating func key(_ name: String) throws {
        try writer.key(try names.key(name))
    }
}

// Records are written as a whole: the plain shape has no nested objects.
extension PlainJSONWriter {
    private var misuse: DocumentError { DocumentError(.misuse, "The plain shape is written record by record.") }
    public mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws { throw misuse }
    public mutating func attribute(
        _ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?
    ) throws { throw misuse }
    public mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws { throw misuse }
    public mutating func reference(_ id: RecordID) throws { throw misuse }
    public mutating func endRelationship() throws { throw misuse }
    public mutating func nullRelationship(_ name: String) throws { throw misuse }
    public mutating func endObject() throws { throw misuse }
}

extension DocumentError {
    /// The error for a reference to an object without natural key.
    package static func unnamed(_ id: String, _ entity: String) -> DocumentError {
        DocumentError(
            .notRepresentable,
            "The plain shape refers to objects by natural keys, and \(id) has none. Declare the attributes that "
                + "identify \(entity) with --key \(entity)=attribute,… or as coral.identity in the model's user info, or "
                + "use another shape.")
    }
}
