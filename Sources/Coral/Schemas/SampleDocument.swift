import CoreData
import GraphDocuments

/// A small sample document of a model: two objects of each entity, and links between them.
public struct SampleDocument {
    private let model: NSManagedObjectModel

    /// Creates a sample of a model's documents.
    public init(_ model: NSManagedObjectModel) { self.model = model }

    /// The document. The same model gives the same bytes. Throws `DocumentError`.
    public func data(as format: GraphFormat = .json) throws -> Data {
        let sink = MemorySink()
        var writer = try format.recordWriter(to: ByteOutput(to: sink), schema: GraphSchema(model))
        try writer.begin(
            DocumentHeader(
                shape: format.defaultShape, idScheme: .walk, model: model, store: nil, isWholeStore: false))
        for entity in entities {
            for number in 1...2 { try writer.write(record(entity, number)) }
        }
        try writer.finish()
        return sink.data
    }

    private var entities: [NSEntityDescription] {
        model.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }

    private func record(_ entity: NSEntityDescription, _ number: Int) -> GraphRecord {
        let attributes = entity.attributesByName.sorted { $0.key < $1.key }.filter {
            !$0.value.isTransient && !($0.value is NSDerivedAttributeDescription)
        }
        let relationships = entity.relationshipsByName.sorted { $0.key < $1.key }.filter { !$0.value.isTransient }
        return GraphRecord(
            id: id(entity, number), entity: entity.name ?? "",
            attributes: attributes.map { GraphAttribute(name: $0.key, value: value(of: $0.value, number)) },
            relationships: relationships.map { name, relationship in
                GraphRelationship(
                    name: name, target: target(of: relationship, number), isOrdered: relationship.isOrdered)
            })
    }

    private func id(_ entity: NSEntityDescription, _ number: Int) -> RecordID {
        let position = entities.firstIndex { $0 === entity } ?? 0
        return .number(2 * position + number)
    }

    // MARK: - Links

    /// The first object is linked with the first, the second with the second, so that inverses are consistent whatever
    /// the cardinality.
    private func target(of relationship: NSRelationshipDescription, _ number: Int) -> RelationshipTarget {
        let destination = concrete(relationship.destinationEntity)
        // Between sub-entities, an inherited relationship and its inverse would name different objects.
        let isPlain =
            concrete(relationship.entity) === relationship.entity && destination === relationship.destinationEntity
            && relationship.entity.superentity?.relationshipsByName[relationship.name] == nil
        guard let destination, isPlain else { return relationship.isToMany ? .toMany([]) : .toOne(nil) }
        let other = id(destination, number)
        return relationship.isToMany ? .toMany([other]) : .toOne(other)
    }

    private func concrete(_ entity: NSEntityDescription?) -> NSEntityDescription? {
        guard let entity else { return nil }
        return entities.first { $0 === entity }
    }

    // MARK: - Values

    private func value(of attribute: NSAttributeDescription, _ number: Int) -> GraphValue {
        value(of: GraphSchema.Attribute(attribute), label: attribute.name, number)
    }

    private func value(of attribute: GraphSchema.Attribute, label: String, _ number: Int) -> GraphValue {
        switch attribute.type {
        case .integer16, .integer32, .integer64: .integer(Int64(number))
        case .double: .double(Double(number) + 0.5)
        case .float: .float(Float(number) + 0.5)
        case .decimal: .decimal(Decimal(number * 100 + 99) / 100)
        case .boolean: .bool(number == 1)
        case .string: .string("\(label) \(number)")
        // Consecutive days around 1 March 2024.
        case .date: .date(730_902_600 + Double(number) * 86400)
        case .binaryData: .data(Data([1, 2, UInt8(truncatingIfNeeded: number)]))
        case .uuid: UUID(uuidString: "00000000-0000-4000-8000-00000000000\(number)").map { .uuid($0) } ?? .null
        case .uri: .uri("https://example.com/\(label)/\(number)")
        case .composite:
            .composite(
                attribute.elements.map { GraphAttribute(name: $0.name, value: value(of: $0, label: $0.name, number)) })
        case .transformable, .undefined, .objectID: .null
        }
    }
}
