import CoreData
import GraphDocuments

extension GraphSchema {
    /// What documents need to know of a model. Entities and properties are sorted by name, so that the same model gives the
    /// same documents everywhere.
    ///
    /// Cost: one value for each entity and property, inherited ones included.
    public init(_ model: NSManagedObjectModel) {
        let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        self.init(entities: entities.map(GraphSchema.Entity.init))
    }
}

extension GraphSchema.Entity {
    fileprivate init(_ entity: NSEntityDescription) {
        let attributes = entity.attributesByName.sorted { $0.key < $1.key }
        let relationships = entity.relationshipsByName.sorted { $0.key < $1.key }
        self.init(
            name: entity.name ?? "", parent: entity.superentity?.name, isAbstract: entity.isAbstract,
            attributes: attributes.map { GraphSchema.Attribute($0.value) },
            relationships: relationships.map { name, relationship in
                GraphSchema.Relationship(
                    name: name, destination: relationship.destinationEntity?.name ?? "",
                    inverse: relationship.inverseRelationship?.name, isToMany: relationship.isToMany,
                    isOrdered: relationship.isOrdered)
            })
    }
}

extension GraphSchema.Attribute {
    /// An attribute of a model. Models are read from files, where composites cannot contain themselves.
    public init(_ attribute: NSAttributeDescription) {
        self.init(
            name: attribute.name, type: GraphValueType(attribute.attributeType),
            elements: attribute.compositeElements.map(GraphSchema.Attribute.init))
    }
}

extension GraphValueType {
    /// The type of Core Data's of the same number; `undefined` for one that is not known here.
    init(_ type: NSAttributeType) {
        self = GraphValueType(rawValue: Int(type.rawValue)) ?? .undefined
    }
}

extension NSAttributeDescription {
    /// The elements of a composite attribute, as declared; none for any other.
    var compositeElements: [NSAttributeDescription] {
        guard GraphValueType(attributeType) == .composite else { return [] }
        #if canImport(Darwin)
            // The class is newer than the oldest system that this runs on; its key is not.
            return value(forKey: "elements") as? [NSAttributeDescription] ?? []
        #else
            return (self as? NSCompositeAttributeDescription)?.elements ?? []
        #endif
    }
}
