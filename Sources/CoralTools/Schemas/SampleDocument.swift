import Coral
import GraphDocuments

/// A small sample document of a model: two objects of each entity, and links between them. The objects are valid by the
/// model, except where no value is found for its validation rules.
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

/// The links between the objects of a sample document, consistent with the inverses. Each object has two numbers of its
/// own: the objects of the first entity are 1 and 2.
struct SampleLinks {
    /// The destinations by relationship, as `Entity.relationship` of the entity that declares it, and by object.
    private var targets: [String: [Int: [Int]]] = [:]

    /// Links the objects of the concrete entities of a model.
    init(between entities: [NSEntityDescription]) {
        var numbers: [String: [Int]] = [:]
        for (position, entity) in entities.enumerated() {
            var ancestor: NSEntityDescription? = entity
            while let here = ancestor {
                numbers[here.name ?? "", default: []] += [2 * position + 1, 2 * position + 2]
                ancestor = here.superentity
            }
        }
        for entity in entities {
            for relationship in entity.relationshipsByName.sorted(by: { $0.key < $1.key }).map(\.value)
            where targets[Self.name(of: relationship)] == nil {
                let owner = Self.declaring(relationship)
                link(
                    relationship, numbers[owner.name ?? ""] ?? [],
                    numbers[relationship.destinationEntity?.name ?? ""] ?? [])
            }
        }
    }

    /// The destinations of an object, sorted.
    func targets(of relationship: NSRelationshipDescription, from number: Int) -> [RecordID] {
        Set(targets[Self.name(of: relationship)]?[number] ?? []).sorted().map { .number($0) }
    }

    private mutating func link(_ relationship: NSRelationshipDescription, _ sources: [Int], _ destinations: [Int]) {
        let name = Self.name(of: relationship)
        targets[name] = [:]
        let inverse = relationship.inverseRelationship
        if let inverse, inverse !== relationship { targets[Self.name(of: inverse)] = [:] }
        guard !sources.isEmpty, !destinations.isEmpty else { return }
        func connect(_ source: Int, _ destination: Int) {
            targets[name]?[source, default: []].append(destination)
            if let inverse, Self.name(of: inverse) != name {
                targets[Self.name(of: inverse)]?[destination, default: []].append(source)
            }
        }
        // A tree: the second object is a child of the first, unless each must have a parent.
        if sources == destinations, let inverse, inverse !== relationship, relationship.isOptional, inverse.isOptional {
            if relationship.isToMany { connect(sources[0], sources[1]) } else { connect(sources[1], sources[0]) }
            return
        }
        let isExclusive = inverse.map { !$0.isToMany } ?? false
        switch (relationship.isToMany, isExclusive) {
        case (false, true):
            for (source, destination) in zip(sources, destinations) { connect(source, destination) }
        case (false, false):
            for (index, source) in sources.enumerated() { connect(source, destinations[index % destinations.count]) }
        case (true, true):
            for (index, destination) in destinations.enumerated() {
                connect(sources[index % sources.count], destination)
            }
        case (true, false):
            // Each object of both sides has a link.
            for index in 0..<max(sources.count, destinations.count) {
                connect(sources[index % sources.count], destinations[index % destinations.count])
            }
        }
    }

    private static func name(of relationship: NSRelationshipDescription) -> String {
        "\(declaring(relationship).name ?? "").\(relationship.name)"
    }

    /// The topmost entity that has the relationship.
    private static func declaring(_ relationship: NSRelationshipDescription) -> NSEntityDescription {
        var entity: NSEntityDescription = relationship.entity
        while let parent = entity.superentity, parent.relationshipsByName[relationship.name] != nil { entity = parent }
        return entity
    }
}
