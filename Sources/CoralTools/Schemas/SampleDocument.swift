import Coral
import GraphDocuments

/// A small sample document of a model: two objects of each entity, and links between them. The objects are valid by the
/// model, as far as values for its validation rules are found.
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
                layout: format.defaultLayout, idScheme: .walk, model: model, store: nil, isWholeStore: false))
        let entities = model.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
        let links = SampleLinks(between: entities)
        for (position, entity) in entities.enumerated() {
            for number in 1...2 { try writer.write(record(entity, 2 * position + number, links)) }
        }
        try writer.finish()
        return sink.data
    }

    /// - Parameter number: The number of the object in the document.
    private func record(_ entity: NSEntityDescription, _ number: Int, _ links: SampleLinks) -> GraphRecord {
        let attributes = entity.attributesByName.sorted { $0.key < $1.key }.filter {
            !$0.value.isTransient && !($0.value is NSDerivedAttributeDescription)
        }
        let relationships = entity.relationshipsByName.sorted { $0.key < $1.key }.filter { !$0.value.isTransient }
        // Entities of a hierarchy may share a uniqueness constraint.
        let isAlone = entity.superentity == nil && entity.subentities.isEmpty
        let value = SampleValue(number: isAlone ? (number - 1) % 2 + 1 : number)
        return GraphRecord(
            id: .number(number), entity: entity.name ?? "",
            attributes: attributes.map { GraphAttribute(name: $0.key, value: value.value(of: $0.value)) },
            relationships: relationships.map { name, relationship in
                let ids = links.targets(of: relationship, from: number)
                return GraphRelationship(
                    name: name, target: relationship.isToMany ? .toMany(ids) : .toOne(ids.first),
                    isOrdered: relationship.isOrdered)
            })
    }
}
