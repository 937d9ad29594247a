import Foundation

/// Writes records as *plain* JSON: arrays by entity, relationships as natural keys, no `$` members. Streams.
///
/// Records must come entity by entity, in the layout's order, with ids made from their keys (`RecordID.key`).
package struct PlainJSONWriter: RecordWriter, GraphWriter {
    private var writer: JSONWriter
    private let layout: PlainLayout
    private let schema: GraphSchema
    private let keys: PlainKeys
    private var entity = -1
    private var isBegun = false
    /// The members of the current entity's records.
    private var members: [Member] = []
    package private(set) var recordCount = 0

    private struct Member {
        var name: String
        var key: JSONWriter.Key
        var content: Content
    }

    private enum Content {
        case attribute(GraphSchema.Attribute)
        /// A relationship with the attributes of its destination's key; nil if that has no key.
        case relationship(destination: String, leaves: [GraphSchema.Attribute]?)
    }

    /// Creates a writer to the output. Throws `DocumentError` if the layout does not fit the schema.
    package init(to output: ByteOutput, layout: PlainLayout, schema: GraphSchema) throws {
        writer = JSONWriter(to: output)
        var groups = layout
        // Abstract entities are in a layout only because of their key.
        groups.entities.removeAll { schema.entity($0.name)?.isAbstract == true }
        self.layout = groups
        self.schema = schema
        keys = try PlainKeys(layout, schema: schema)
    }

    /// Begins the document. The plain layout has no header.
    package mutating func begin(_ header: DocumentHeader) throws {
        guard !isBegun else { throw DocumentError(.misuse, "The document has already begun.") }
        isBegun = true
        try writer.beginPlainDocument()
    }

    package mutating func write(_ record: GraphRecord) throws {
        guard isBegun else { throw DocumentError(.misuse, "The document is not open.") }
        guard !record.isDeleted else {
            throw DocumentError(.notRepresentable, "The plain layout has no tombstones (\(record.id)).")
        }
        while entity < 0 || layout.entities[entity].name != record.entity {
            guard entity + 1 < layout.entities.count else {
                throw DocumentError(
                    .misuse, "The layout has no \(record.entity) here: records must be in the order of its entities.")
            }
            try openNextGroup()
        }
        guard schema.entity(record.entity) != nil else { return }
        try writer.beginPlainRecord()
        var attribute = 0
        var relationship = 0
        for member in members {
            switch member.content {
            case .attribute(let declared):
                // The properties of a record usually have the order of the members.
                guard let found = record.attributes.index(of: member.name, from: &attribute) else { continue }
                try writer.key(member.key)
                try write(record.attributes[found].value, declared)
            case .relationship(let destination, let leaves):
                guard let found = record.relationships.index(of: member.name, from: &relationship) else { continue }
                try writer.key(member.key)
                try write(record.relationships[found].target, to: destination, leaves)
            }
        }
        try writer.endObject()
        recordCount += 1
    }

    package mutating func finish() throws {
        guard isBegun else { throw DocumentError(.misuse, "The document is not open.") }
        while entity + 1 < layout.entities.count { try openNextGroup() }
        if entity >= 0 { try writer.endArray() }
        try writer.endPlainDocument()
        isBegun = false
    }

    /// Writes the parts of a record that the layout contains.
    package mutating func write(_ record: GraphRecord, of entity: GraphSchema.Entity?) throws { try write(record) }

    private mutating func openNextGroup() throws {
        if entity >= 0 { try writer.endArray() }
        entity += 1
        let group = layout.entities[entity]
        members = try makeMembers(of: group)
        try writer.beginPlainEntity(group.name)
    }

    private func makeMembers(of group: PlainLayout.Entity) throws -> [Member] {
        guard let declared = schema.entity(group.name) else { return [] }
        let names = group.members ?? declared.attributes.map(\.name) + declared.relationships.map(\.name)
        return try names.compactMap { name in
            let content: Content
            if let attribute = declared.attribute(name) {
                content = .attribute(attribute)
            } else if let relationship = declared.relationship(name) {
                content = .relationship(
                    destination: relationship.destination, leaves: keys[relationship.destination]?.leaves)
            } else {
                return nil
            }
            return Member(name: name, key: try JSONWriter.Key(name), content: content)
        }
    }

    private mutating func write(
        _ target: RelationshipTarget, to destination: String, _ leaves: [GraphSchema.Attribute]?
    ) throws {
        switch target {
        case .nullToMany, .toOne(nil): try writer.null()
        case .toOne(let id?): try reference(id, to: destination, leaves)
        case .toMany(let ids):
            try writer.beginArray()
            for id in ids { try reference(id, to: destination, leaves) }
            try writer.endArray()
        }
    }

    private mutating func write(_ value: GraphValue, _ attribute: GraphSchema.Attribute) throws {
        switch (value, attribute.type) {
        case (.date(let seconds), .date) where layout.dates == .milliseconds: try writer.dateInMilliseconds(seconds)
        // The plain layout cannot represent missing files, because it has no `$` members. Exporters count such values.
        case (.file(let file), _) where file.isMissing: try writer.null()
        case (.decimal(let number), .decimal): try writer.decimal(number, asNumber: layout.decimals == .number)
        default: try writer.value(value, declaredAs: attribute)
        }
    }

    private mutating func reference(
        _ id: RecordID, to destination: String, _ leaves: [GraphSchema.Attribute]?
    ) throws {
        guard let values = id.keyValues, let leaves, leaves.count == values.count else {
            throw DocumentError.unnamed(id.description, destination)
        }
        try writer.beginPlainReference(count: leaves.count)
        for (value, leaf) in zip(values, leaves) {
            try writer.plainKeyValue(value, leaf.type, dates: layout.dates)
        }
        try writer.endPlainReference(count: leaves.count)
    }
}

extension JSONWriter {
    /// Writes a value of a key: numbers and booleans as such, everything else as text.
    fileprivate mutating func plainKeyValue(
        _ value: String, _ type: GraphValueType, dates: PlainLayout.DateForm
    ) throws {
        switch type {
        case .string, .uuid, .uri: return try string(value)
        default: break
        }
        switch TextValue.anyValue(value, as: type) {
        case .integer(let number): try integer(number)
        case .double(let number): try double(number)
        case .float(let number): try float(number)
        case .bool(let flag): try bool(flag)
        case .date(let seconds) where dates == .milliseconds: try dateInMilliseconds(seconds)
        default: try string(value)
        }
    }
}

extension Array {
    /// The index of a property; the search begins at a place, which moves behind the property that is found.
    fileprivate func index(of name: String, from position: inout Int) -> Int? where Element: NamedProperty {
        if position < count, self[position].name == name {
            position += 1
            return position - 1
        }
        guard let found = firstIndex(where: { $0.name == name }) else { return nil }
        position = found + 1
        return found
    }
}

private protocol NamedProperty {
    var name: String { get }
}

extension GraphAttribute: NamedProperty {}
extension GraphRelationship: NamedProperty {}

// Records are written as a whole: the plain layout has no nested objects.
extension PlainJSONWriter {
    private var misuse: DocumentError { DocumentError(.misuse, "The plain layout is written record by record.") }
    package mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws { throw misuse }
    package mutating func attribute(
        _ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?
    ) throws { throw misuse }
    package mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws { throw misuse }
    package mutating func reference(_ id: RecordID) throws { throw misuse }
    package mutating func endRelationship() throws { throw misuse }
    package mutating func nullRelationship(_ name: String) throws { throw misuse }
    package mutating func endObject() throws { throw misuse }
}

extension DocumentError {
    /// The error for a reference to an object without natural key.
    package static func unnamed(_ id: String, _ entity: String) -> DocumentError {
        DocumentError(
            .notRepresentable,
            "The plain layout refers to objects by natural keys, and \(id) has none. Declare the attributes that "
                + "identify \(entity) with --key \(entity)=attribute,… or as coral.identity in the model's user info, or "
                + "use another layout.")
    }
}
