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
