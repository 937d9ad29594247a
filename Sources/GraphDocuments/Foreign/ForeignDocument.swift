import Foundation

/// Documents of older libraries, as records.
///
/// - ExtendedManagedObject: dictionaries that name their class under `class`, related objects inside. Its forks write a date
///   under `dAtEaTtr:` and the attribute's name, as seconds since 2001. What they lost on export (shared objects, ways back)
///   is not in the document.
/// - CDSerialization: a table of objects by UUID, relationships as UUIDs, dates as seconds since 1970, data in Base64.
///
/// Neither says its own format, so it is asked for; everything is in memory. The values are the importer's to convert.
public enum ForeignDocument {
    /// The records of a document, in JSON or a property list, of either library: which of them its members tell.
    ///
    /// Throws `DocumentError` for what is no document of these, and for entities that the schema does not have.
    public static func records(
        of data: Data, schema: GraphSchema, limits: DocumentLimits = .standard
    ) throws -> [GraphRecord] {
        var options = ReadingOptions()
        options.limits = limits
        return try records(of: TreeDocument.read(data, options: options), schema: schema)
    }

    /// The records of a dictionary, or of an array of dictionaries, of either library.
    public static func records(ofFoundationObject object: Any, schema: GraphSchema) throws -> [GraphRecord] {
        try records(of: TreeDocument.read(foundationObject: object), schema: schema)
    }

    private static func records(of tree: ReadableValue, schema: GraphSchema) throws -> [GraphRecord] {
        var reader = ForeignReader(schema: schema)
        if let table = tree.member("CDSerializationReferences") {
            try reader.readTable(table, roots: tree.member("CDSerializationTopReferences"))
        } else if case .array(let values) = tree {
            for (index, value) in values.enumerated() { _ = try reader.readObject(value, at: "/\(index)") }
        } else {
            _ = try reader.readObject(tree, at: "")
        }
        return reader.records
    }
}

/// One reading of a foreign document.
private struct ForeignReader {
    let schema: GraphSchema
    var records: [GraphRecord] = []

    init(schema: GraphSchema) { self.schema = schema }

    private func failure(_ code: DocumentError.Code, _ message: String, _ pointer: String) -> DocumentError {
        DocumentError(code, message, at: DocumentPlace(offset: 0, pointer: pointer))
    }

    private func entity(_ name: String, at pointer: String) throws -> GraphSchema.Entity {
        // A class of Swift comes with its module.
        let short = name.split(separator: ".").last.map(String.init) ?? name
        guard let entity = schema.entity(name) ?? schema.entity(short) else {
            throw failure(.unknownEntity, "The model has no entity \"\(name)\".", pointer)
        }
        return entity
    }

    // MARK: - ExtendedManagedObject

    private static let datePrefix = "dAtEaTtr:"

    /// Reads a dictionary and all inside it; the outer record comes first. As deep as the tree, whose depth its reader limits.
    mutating func readObject(_ tree: ReadableValue, at pointer: String) throws -> RecordID {
        guard case .dictionary(let members) = tree, case .value(.string(let name))? = tree.member("class") else {
            throw failure(.unsupported, "An object does not name its class.", pointer)
        }
        let entity = try entity(name, at: pointer)
        let position = records.count
        var record = GraphRecord(id: .number(position + 1), entity: entity.name)
        records.append(record)
        for member in members where member.name != "class" {
            let place = "\(pointer)/\(DocumentPlace.escaped(member.name))"
            if let attribute = entity.attribute(member.name) {
                record.attributes.append(
                    GraphAttribute(name: attribute.name, value: try scalar(member.value, attribute, at: place)))
            } else if let relationship = entity.relationship(member.name) {
                record.relationships.append(
                    try link(relationship, member.value, at: place) { reader, value, place in
                        try reader.readObject(value, at: place)
                    })
            } else if member.name.hasPrefix(Self.datePrefix),
                let attribute = entity.attribute(String(member.name.dropFirst(Self.datePrefix.count)))
            {
                guard let seconds = member.value.seconds else {
                    throw failure(.wrongType, "The date \(attribute.name) is no number.", place)
                }
                record.attributes.append(GraphAttribute(name: attribute.name, value: .date(seconds)))
            }
        }
        records[position] = record
        return record.id
    }

    private mutating func link(
        _ relationship: GraphSchema.Relationship, _ tree: ReadableValue, at place: String,
        _ read: (inout ForeignReader, ReadableValue, String) throws -> RecordID
    ) throws -> GraphRelationship {
        let target: RelationshipTarget
        switch tree {
        case .array(let values) where relationship.isToMany:
            var ids: [RecordID] = []
            for (index, value) in values.enumerated() { ids.append(try read(&self, value, "\(place)/\(index)")) }
            target = .toMany(ids)
        case .value(.null): target = relationship.isToMany ? .nullToMany : .toOne(nil)
        case _ where !relationship.isToMany: target = .toOne(try read(&self, tree, place))
        default: throw failure(.wrongType, "\(relationship.name) wants an array.", place)
        }
        return GraphRelationship(name: relationship.name, target: target, isOrdered: relationship.isOrdered)
    }

    private func scalar(
        _ tree: ReadableValue, _ attribute: GraphSchema.Attribute, at place: String
    ) throws -> GraphValue {
        switch tree {
        case .value(let value): return value
        case _ where attribute.type == .transformable:
            return .transformable(TransformableValue(archive: nil, readable: tree))
        default:
            throw failure(.wrongType, "An array or an object stands where \(attribute.name) is wanted.", place)
        }
    }

    // MARK: - CDSerialization

    /// Reads the table of objects; those at the top come first, in the document's order.
    mutating func readTable(_ table: ReadableValue, roots: ReadableValue?) throws {
        guard case .dictionary(let members) = table else {
            throw failure(.syntax, "The table of objects is none.", "/CDSerializationReferences")
        }
        let known = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        var order: [String] = []
        var met: Set<String> = []
        if case .array(let values)? = roots {
            for case .value(.string(let name)) in values where known[name] != nil && met.insert(name).inserted {
                order.append(name)
            }
        }
        order += known.keys.sorted().filter { met.insert($0).inserted }
        for name in order {
            guard let object = known[name] else { continue }
            try readEntry(name, object, known)
        }
    }

    private mutating func readEntry(
        _ name: String, _ tree: ReadableValue, _ known: [String: ReadableValue]
    ) throws {
        let pointer = "/CDSerializationReferences/\(DocumentPlace.escaped(name))"
        guard case .value(.string(let entityName))? = tree.member("entity"),
            case .dictionary(let members) = tree.member("properties") ?? .dictionary([])
        else { throw failure(.syntax, "An object does not say its entity and properties.", pointer) }
        let entity = try entity(entityName, at: pointer)
        var record = GraphRecord(id: RecordID(name), entity: entity.name)
        for member in members {
            let place = "\(pointer)/properties/\(DocumentPlace.escaped(member.name))"
            if let attribute = entity.attribute(member.name) {
                var value = try scalar(member.value, attribute, at: place)
                if attribute.type == .date, let seconds = member.value.seconds {
                    value = .date(Date(timeIntervalSince1970: seconds).timeIntervalSinceReferenceDate)
                } else if attribute.type == .binaryData, case .string(let text) = value,
                    let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters)
                {
                    value = .data(data)
                }
                record.attributes.append(GraphAttribute(name: attribute.name, value: value))
            } else if let relationship = entity.relationship(member.name) {
                record.relationships.append(
                    try link(relationship, member.value, at: place) { reader, value, place in
                        guard case .value(.string(let id)) = value, known[id] != nil else {
                            throw reader.failure(.wrongType, "A reference leads to no object of the document.", place)
                        }
                        return RecordID(id)
                    })
            }
        }
        records.append(record)
    }
}

extension ReadableValue {
    /// The number that stands for a time.
    fileprivate var seconds: Double? {
        switch self {
        case .value(.double(let value)): value
        case .value(.integer(let value)): Double(value)
        default: nil
        }
    }
}
