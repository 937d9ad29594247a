import Foundation
import KeyedArchives

/// Creates the objects of a file's document from cache nodes.
struct FileStoreWriter {
    private let store: FileStore
    private let format: any StoreFileFormat.Type

    init(_ store: FileStore, _ format: any StoreFileFormat.Type) {
        self.store = store
        self.format = format
    }

    /// An object of the file: values and relationships in the order in which they were read, otherwise in the model's
    /// order.
    ///
    /// - Throws: Code 134060 for a value of another type than its attribute's.
    func object(_ node: FileStoreNode) throws -> StoreDocument.Object {
        let layout = node.objectID.entity.layout
        var object = StoreDocument.Object(
            entity: format.entityName(node.objectID.entity.name ?? ""), reference: node.reference)
        object.attributes = FileStoreNode.sorted(
            try attributes(of: node, layout), by: node.attributeNames, name: \.name)
        object.relationships = FileStoreNode.sorted(
            relationships(of: node), by: node.relationshipNames, name: \.name)
        return object
    }

    private func attributes(of node: FileStoreNode, _ layout: EntityLayout) throws -> [StoreDocument.Attribute] {
        let values = try store.values(of: node, layout: layout)
        return zip(layout.slots, values).compactMap { slot, value in
            guard slot.kind != .toOne, let name = slot.name, !value.isNull else { return nil }
            return StoreDocument.Attribute(
                name: format.propertyName(name), type: format.typeName(slot.kind),
                value: format.stored(value, kind: slot.kind))
        }
    }

    private func relationships(of node: FileStoreNode) -> [StoreDocument.Relationship] {
        let relationships = node.objectID.entity.relationshipsByName.values.filter { !$0.isTransient }
        return relationships.sorted { $0.name < $1.name }.map { relationship in
            let name = format.propertyName(relationship.name)
            var references: [Int64]
            if !relationship.isToMany {
                let destination = node.value(forKey: relationship.name) as? FileStoreNode
                references = destination.flatMap { store.cache.contains($0) ? [$0.reference] : nil } ?? []
            } else {
                references = node.nodes(forKey: relationship.name).filter(store.cache.contains)
                    .compactMap { ($0 as? FileStoreNode)?.reference }
                if !relationship.isOrdered { references = node.ordered(references, named: name) }
            }
            return StoreDocument.Relationship(
                name: name, isToMany: relationship.isToMany,
                destination: format.entityName(relationship.destinationEntity?.name ?? ""), references: references)
        }
    }
}
