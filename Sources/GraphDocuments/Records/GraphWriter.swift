/// Receives a graph as a sequence of calls and writes it in one format. The flat and lines layouts call it record by
/// record, the nested layout opens an object inside another's relationship.
///
/// The order of calls: `begin`; objects; `finish`. An object is `beginObject`, its attributes, its relationships,
/// `endObject`. A relationship is `beginRelationship`, any number of `reference` or whole objects (for a to-one at most
/// one; without one it is null), `endRelationship`.
package protocol GraphWriter {
    /// Writes the part of the document before the first object.
    mutating func begin(_ header: DocumentHeader) throws
    /// Opens an object, at the top level or inside a relationship.
    mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws
    /// Writes one attribute of the open object. `type` is the declared type: a value of another type is tagged with its
    /// own.
    mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) throws
    /// Opens a relationship of the open object.
    mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws
    /// Writes the id of an object that is elsewhere in the document.
    mutating func reference(_ id: RecordID) throws
    /// Closes the open relationship.
    mutating func endRelationship() throws
    /// Writes a to-many relationship that is null rather than empty.
    mutating func nullRelationship(_ name: String) throws
    /// Closes the open object.
    mutating func endObject() throws
    /// Writes a whole record, with relationships as references.
    mutating func write(_ record: GraphRecord, of entity: GraphSchema.Entity?) throws
    /// Writes the part of the document after the last object and completes the document.
    mutating func finish() throws
}

extension GraphWriter {
    /// Writes a whole record, with relationships as references.
    package mutating func write(_ record: GraphRecord, of entity: GraphSchema.Entity?) throws {
        try beginObject(id: record.id, entity: record.entity, isDeleted: record.isDeleted)
        // Records usually have their attributes in the entity's order: the next one is compared before a look-up.
        var next = 0
        for attribute in record.attributes {
            if let entity, next < entity.attributes.count, entity.attributes[next].name == attribute.name {
                try self.attribute(attribute.name, attribute.value, declaredAs: entity.attributes[next])
                next += 1
            } else {
                try self.attribute(attribute.name, attribute.value, declaredAs: entity?.attribute(attribute.name))
            }
        }
        for relationship in record.relationships {
            switch relationship.target {
            case .toOne(let id):
                try beginRelationship(relationship.name, isToMany: false, isOrdered: false)
                if let id { try reference(id) }
                try endRelationship()
            case .toMany(let ids):
                try beginRelationship(relationship.name, isToMany: true, isOrdered: relationship.isOrdered)
                for id in ids { try reference(id) }
                try endRelationship()
            case .nullToMany:
                try nullRelationship(relationship.name)
            }
        }
        try endObject()
    }
}

/// A writer that forwards all calls that it does not implement to another.
protocol ForwardingGraphWriter: GraphWriter {
    associatedtype Target: GraphWriter
    /// The writer that calls are forwarded to.
    var target: Target { get set }
}

// Public, because these methods implement a public protocol in public writers.
extension ForwardingGraphWriter {
    public mutating func begin(_ header: DocumentHeader) throws { try target.begin(header) }
    public mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        try target.beginObject(id: id, entity: entity, isDeleted: isDeleted)
    }
    public mutating func attribute(
        _ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?
    ) throws {
        try target.attribute(name, value, declaredAs: type)
    }
    public mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws {
        try target.beginRelationship(name, isToMany: isToMany, isOrdered: isOrdered)
    }
    public mutating func reference(_ id: RecordID) throws { try target.reference(id) }
    public mutating func endRelationship() throws { try target.endRelationship() }
    public mutating func nullRelationship(_ name: String) throws { try target.nullRelationship(name) }
    public mutating func endObject() throws { try target.endObject() }
    public mutating func finish() throws { try target.finish() }
}

/// Collects the calls for a flat graph into records, and passes each on when it is complete.
package struct RecordCollector: GraphWriter {
    private let body: (GraphRecord) throws -> Void
    private var record: GraphRecord?
    private var relationship: (name: String, isToMany: Bool, isOrdered: Bool, ids: [RecordID])?

    package init(_ body: @escaping (GraphRecord) throws -> Void) { self.body = body }

    package mutating func begin(_ header: DocumentHeader) {}
    package mutating func finish() {}

    package mutating func write(_ record: GraphRecord, of entity: GraphSchema.Entity?) throws { try body(record) }

    package mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        guard record == nil, let id else {
            throw DocumentError(.misuse, "Records can be collected only from a flat graph with ids.")
        }
        record = GraphRecord(id: id, entity: entity, isDeleted: isDeleted)
    }

    package mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) {
        record?.attributes.append(GraphAttribute(name: name, value: value))
    }

    package mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) {
        relationship = (name, isToMany, isOrdered, [])
    }

    package mutating func reference(_ id: RecordID) { relationship?.ids.append(id) }

    package mutating func endRelationship() {
        guard let ended = relationship else { return }
        record?.relationships.append(
            GraphRelationship(
                name: ended.name, target: ended.isToMany ? .toMany(ended.ids) : .toOne(ended.ids.first),
                isOrdered: ended.isOrdered))
        relationship = nil
    }

    package mutating func nullRelationship(_ name: String) {
        record?.relationships.append(GraphRelationship(name: name, target: .nullToMany))
    }

    package mutating func endObject() throws {
        guard let ended = record else { return }
        record = nil
        try body(ended)
    }
}

/// Writes records one by one to a document.
///
/// `begin` is called first and once, `finish` last and once; without `finish` no document is written.
package protocol RecordWriter {
    /// Writes the part of the document before the records.
    mutating func begin(_ header: DocumentHeader) throws
    /// Writes one record. Layouts that group by entity require the records of one entity to be consecutive.
    mutating func write(_ record: GraphRecord) throws
    /// Writes the part of the document after the records and completes it.
    mutating func finish() throws
    /// The number of records written so far.
    var recordCount: Int { get }
}

/// Reads the records of a document one by one.
package protocol RecordReader {
    /// The header of the document. Read when the reader is created; nil for a document without a header.
    var header: DocumentHeader? { get }
    /// The next record, or nil after the last. Throws `DocumentError`; after an error there are no more records.
    mutating func next() throws -> GraphRecord?
    /// The bytes consumed so far, for progress.
    var bytesRead: Int { get }
    /// The size of the document in bytes, if it is known.
    var byteCount: Int? { get }
}

/// Reads the records of a document with their positions, for an importer.
package protocol DocumentReader: RecordReader {
    /// The next record with its position, or nil after the last.
    mutating func nextPlaced() throws -> PlacedRecord?
}

extension DocumentReader {
    package mutating func next() throws -> GraphRecord? {
        try nextPlaced()?.record
    }
}
