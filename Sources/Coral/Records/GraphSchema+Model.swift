import CoreData
import GraphDocuments
import ModelFiles

extension GraphSchema {
    /// The schema of a model for documents. Entities and properties are sorted by name, so that the same model always
    /// gives the same documents.
    ///
    /// Cost: one value for each entity and property, including inherited ones.
    package init(_ model: NSManagedObjectModel) {
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
    /// An attribute of a model. Recursive; a composite in a model file cannot contain itself.
    public init(_ attribute: NSAttributeDescription) {
        self.init(
            name: attribute.name, type: GraphValueType(attribute.attributeType),
            elements: attribute.compositeElements.map(GraphSchema.Attribute.init))
    }
}

extension GraphValueType {
    /// The type with the same number as Core Data's; `undefined` for an unknown one.
    package init(_ type: NSAttributeType) {
        self = GraphValueType(rawValue: Int(type.rawValue)) ?? .undefined
    }
}

extension NSAttributeDescription {
    /// The elements of a composite attribute, as declared; empty for other attributes.
    package var compositeElements: [NSAttributeDescription] {
        guard GraphValueType(attributeType) == .composite else { return [] }
        #if canImport(Darwin)
            // The class is not available on the oldest supported system; its key is.
            return value(forKey: "elements") as? [NSAttributeDescription] ?? []
        #else
            return (self as? NSCompositeAttributeDescription)?.elements ?? []
        #endif
    }
}

extension DocumentHeader {
    /// The header of a document of a model's objects.
    ///
    /// - Parameter store: The store of the ids. Metadata set by a program is part of the header of a whole store;
    ///   metadata set by the framework is omitted, because it follows from the model.
    package init(
        layout: DocumentLayout, idScheme: IDScheme, model: NSManagedObjectModel, store: NSPersistentStore?,
        isWholeStore: Bool
    ) {
        self.init(
            layout: layout, idScheme: idScheme, storeUUID: store?.identifier,
            modelVersionIdentifiers: model.versionIdentifiers.map { "\($0)" }.filter { !$0.isEmpty }.sorted(),
            entityVersionHashes: model.entityVersionHashesByName)
        guard isWholeStore, let content = store?.metadata else { return }
        let kept = content.filter { StoreMetadataKeys.isOfProgram($0.key) }
        metadata = kept.sorted { $0.key < $1.key }.map {
            ReadableValue.Member(name: $0.key, value: ReadableValue(propertyList: $0.value))
        }
    }
}
