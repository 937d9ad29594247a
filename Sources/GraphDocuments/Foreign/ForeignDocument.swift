import Foundation
import KeyedArchives

/// Reads documents of older libraries as records.
///
/// - ExtendedManagedObject: dictionaries that name their class under `class`, related objects nested, those of to-many
///   relationships in sets. Its forks write a date under `dAtEaTtr:` and the attribute's name, as seconds since 2001.
///   Information that they lose on export (shared objects, inverses) is not in the document.
/// - KVCBaseObject: the same without a class, so the entity of the objects at the top level must be given; nested
///   objects have the relationship's entity. An empty text for an attribute of another type, and an empty object in a
///   relationship, represent nil. Its forks write dates as `/Date(978307200000)/`, milliseconds since 1970.
/// - CDSerialization: a table of objects by UUID, relationships as UUIDs, dates as seconds since 1970, data in Base64.
///
/// None of these documents contains its format, so it must be given; everything is in memory. The importer converts the
/// values.
package enum ForeignDocument {
    /// The records of a document of one of these libraries, in JSON, a property list, or a keyed archive of dictionaries; the
    /// library is detected by the members. No class that an archive names is instantiated.
    ///
    /// - Parameter entity: The entity of top-level objects without a class.
    ///
    /// Throws `DocumentError` for other documents, and for entities that the schema does not have.
    package static func records(
        of data: Data, schema: GraphSchema, entity: String? = nil, limits: DocumentLimits = .standard
    ) throws -> [PlacedRecord] {
        if BinaryPropertyList.isBinaryPropertyList(data), data.count <= limits.documentSize,
            (try? KeyedArchive(data: data)) != nil
        {
            guard let tree = GraphDocuments.ReadableValue(archive: data) else {
                throw DocumentError(
                    .unsupported, "The archive has a cycle, nests too deeply, or has values that no attribute has.")
            }
            return try records(of: tree, schema: schema, entity: entity)
        }
        var options = ReadingOptions()
        options.limits = limits
        return try records(of: TreeDocument.read(data, options: options), schema: schema, entity: entity)
    }

    /// The records of a dictionary, or of an array or a set of dictionaries, of one of these libraries.
    package static func records(
        ofFoundationObject object: Any, schema: GraphSchema, entity: String? = nil
    ) throws -> [PlacedRecord] {
        try records(of: TreeDocument.read(foundationObject: object), schema: schema, entity: entity)
    }

    private static func records(
        of tree: GraphDocuments.ReadableValue, schema: GraphSchema, entity: String?
    ) throws -> [PlacedRecord] {
        var reader = ForeignReader(schema: schema)
        if let table = tree.member("CDSerializationReferences") {
            try reader.readTable(table, roots: tree.member("CDSerializationTopReferences"))
        } else if case .array(let values) = tree {
            for (index, value) in values.enumerated() {
                _ = try reader.readObject(value, entity, at: "/\(index)", isTop: true)
            }
        } else {
            _ = try reader.readObject(tree, entity, at: "", isTop: true)
        }
        return reader.records
    }
}

/// One reading of a foreign document.
private struct ForeignReader {
    let schema: GraphSchema
    var records: [PlacedRecord] = []

    init(schema: GraphSchema) { self.schema = schema }

    private func failure(_ code: DocumentError.Code, _ message: String, _ pointer: String) -> DocumentError {
        DocumentError(code, message, at: DocumentPlace(offset: 0, pointer: pointer))
    }

    private func entity(_ name: String, at pointer: String) throws -> GraphSchema.Entity {
        // The name of a Swift class includes its module.
        let short = name.split(separator: ".").last.map(String.init) ?? name
        guard let entity = schema.entity(name) ?? schema.entity(short) ?? madeByCoreData(name) else {
            throw failure(.unknownEntity, NameSuggestion.noEntity(name, in: schema.entities.map(\.name)), pointer)
        }
        return entity
    }

    /// The entity of a class that Core Data creates for it, such as `Note_Note_`.
    private func madeByCoreData(_ name: String) -> GraphSchema.Entity? {
        guard name.hasSuffix("_") else { return nil }
        return schema.entities.first { name.hasSuffix("_\($0.name)_") }
    }

    // MARK: - ExtendedManagedObject and KVCBaseObject

    private static let datePrefix = "dAtEaTtr:"

    /// Reads a dictionary and its nested objects; the outer record comes first. Recursive to the tree's depth, which
    /// its reader limits.
    ///
    /// - Parameter expected: The entity of an object without a class; nil if it must have one.
    mutating func readObject(
        _ tree: GraphDocuments.ReadableValue, _ expected: String?, at pointer: String, isTop: Bool
    ) throws -> RecordID {
        guard case .dictionary(let members) = tree else {
            throw failure(.unsupported, "Expected an object.", pointer)
        }
        var className = expected
        // The entity may have an attribute named `class`.
        if case .value(.string(let name))? = tree.member("class"),
            expected.flatMap({ schema.entity($0)?.attribute("class") }) == nil
        {
            className = name
        }
        guard let className else { throw failure(.unsupported, "An object has no class.", pointer) }
        let entity = try entity(className, at: pointer)
        let position = records.count
        var record = GraphRecord(id: .number(position + 1), entity: entity.name)
        records.append(PlacedRecord(record, at: pointer, isTop: isTop))
        for member in members {
            let place = "\(pointer)/\(DocumentPlace.escaped(member.name))"
            if let attribute = entity.attribute(member.name) {
                record.attributes.append(
                    GraphAttribute(name: attribute.name, value: try scalar(member.value, attribute, at: place)))
            } else if let relationship = entity.relationship(member.name) {
                record.relationships.append(
                    try link(relationship, member.value, at: place) { reader, value, place in
                        try reader.readObject(
                            value, expected.map { _ in relationship.destination }, at: place, isTop: false)
                    })
            } else if member.name.hasPrefix(Self.datePrefix),
                let attribute = entity.attribute(String(member.name.dropFirst(Self.datePrefix.count)))
            {
                guard let seconds = member.value.seconds else {
                    throw failure(.wrongType, "The date \(attribute.name) is not a number.", place)
                }
                record.attributes.append(GraphAttribute(name: attribute.name, value: .date(seconds)))
            }
        }
        records[position] = records[position].replacing(record: record)
        return record.id
    }

    private mutating func link(
        _ relationship: GraphSchema.Relationship, _ tree: GraphDocuments.ReadableValue, at place: String,
        _ read: (inout ForeignReader, GraphDocuments.ReadableValue, String) throws -> RecordID
    ) throws -> GraphRelationship {
        let target: RelationshipTarget
        switch tree {
        case .array(let values) where relationship.isToMany:
            var ids: [RecordID] = []
            for (index, value) in values.enumerated() { ids.append(try read(&self, value, "\(place)/\(index)")) }
            target = .toMany(ids)
        case .value(.null), .value(.string("")), .dictionary([]):
            target = relationship.isToMany ? .nullToMany : .toOne(nil)
        case _ where !relationship.isToMany: target = .toOne(try read(&self, tree, place))
        default: throw failure(.wrongType, "\(relationship.name) needs an array.", place)
        }
        return GraphRelationship(name: relationship.name, target: target, isOrdered: relationship.isOrdered)
    }

    private func scalar(
        _ tree: GraphDocuments.ReadableValue, _ attribute: GraphSchema.Attribute, at place: String
    ) throws -> GraphValue {
        switch tree {
        case .value(.string("")) where attribute.type != .string: return .null
        case .value(.string(let text)) where attribute.type == .date:
            return ForeignReader.milliseconds(text).map { .date($0) } ?? .string(text)
        case .value(let value): return value
        case _ where attribute.type == .transformable:
            return .transformable(TransformableValue(archive: nil, readable: tree))
        default:
            throw failure(.wrongType, "\(attribute.name) cannot be an array or an object.", place)
        }
    }

    /// The time in `/Date(978307200000)/`, in seconds since 2001; nil for other text.
    private static func milliseconds(_ text: String) -> Double? {
        guard text.hasPrefix("/Date("), text.hasSuffix(")/") else { return nil }
        // A time zone may follow; it does not affect the value.
        let digits = text.dropFirst(6).dropLast(2)
        let number = digits.prefix(1) + digits.dropFirst().prefix { $0.isASCII && $0.isNumber }
        return Double(number).map { Date(timeIntervalSince1970: $0 / 1000).timeIntervalSinceReferenceDate }
    }

    // MARK: - CDSerialization

    /// Reads the table of objects; the top-level objects come first, in the document's order.
    mutating func readTable(_ table: GraphDocuments.ReadableValue, roots: GraphDocuments.ReadableValue?) throws {
        guard case .dictionary(let members) = table else {
            throw failure(.syntax, "The table of objects is not an object.", "/CDSerializationReferences")
        }
        let known = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        var order: [String] = []
        var met: Set<String> = []
        if case .array(let values)? = roots {
            for case .value(.string(let name)) in values where known[name] != nil && met.insert(name).inserted {
                order.append(name)
            }
        }
        let tops = met
        order += known.keys.sorted().filter { met.insert($0).inserted }
        for name in order {
            guard let object = known[name] else { continue }
            try readEntry(name, object, known, isTop: tops.isEmpty || tops.contains(name))
        }
    }

    private mutating func readEntry(
        _ name: String, _ tree: GraphDocuments.ReadableValue, _ known: [String: GraphDocuments.ReadableValue],
        isTop: Bool
    ) throws {
        let pointer = "/CDSerializationReferences/\(DocumentPlace.escaped(name))"
        guard case .value(.string(let entityName))? = tree.member("entity"),
            case .dictionary(let members) = tree.member("properties") ?? .dictionary([])
        else { throw failure(.syntax, "An object has no entity or no properties.", pointer) }
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
                            throw reader.failure(
                                .wrongType, "The document does not contain the object of a reference.", place)
                        }
                        return RecordID(id)
                    })
            }
        }
        records.append(PlacedRecord(record, at: pointer, isTop: isTop))
    }
}

extension PlacedRecord {
    /// A record of a document in memory: its path is known, its byte offset is not.
    fileprivate init(_ record: GraphRecord, at pointer: String, isTop: Bool) {
        self.init(
            record: record, place: DocumentPlace(offset: 0, pointer: pointer), hasOwnID: true,
            details: isTop ? .top : .inside)
    }
}

extension GraphDocuments.ReadableValue {
    /// The number of a time.
    fileprivate var seconds: Double? {
        switch self {
        case .value(.double(let value)): value
        case .value(.integer(let value)): Double(value)
        default: nil
        }
    }
}
