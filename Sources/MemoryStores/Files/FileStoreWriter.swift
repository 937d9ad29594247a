import Foundation
import KeyedArchives
import ManagedObjects

/// Creates the objects of a file's document from cache nodes.
final class FileStoreWriter {
    private let store: FileStore
    private let format: any StoreFileFormat.Type
    private var spellings: [ObjectIdentifier: Spelling] = [:]

    /// The properties of an entity in the format's spelling, which is the same for all of its objects.
    private struct Spelling {
        let entity: String
        let attributes: [(slot: Int, kind: EntityLayout.Slot.Kind, name: String, type: String)]
        let relationships: [(relationship: NSRelationshipDescription, name: String, destination: String)]

        init(_ entity: NSEntityDescription, _ format: any StoreFileFormat.Type) {
            self.entity = format.entityName(entity.name ?? "")
            attributes = entity.layout.slots.enumerated().compactMap { index, slot in
                guard slot.kind != .toOne, slot.isPersistent, let name = slot.name else { return nil }
                return (index, slot.kind, format.propertyName(name), format.typeName(slot.kind))
            }
            relationships = entity.relationshipsByName.values.filter { !$0.isTransient }
                .sorted { $0.name < $1.name }.map { relationship in
                    (
                        relationship, format.propertyName(relationship.name),
                        format.entityName(relationship.destinationEntity?.name ?? "")
                    )
                }
        }
    }

    init(_ store: FileStore, _ format: any StoreFileFormat.Type) {
        self.store = store
        self.format = format
    }

    /// An object of the file: values and relationships in the order in which they were read, otherwise in the model's
    /// order.
    ///
    /// - Throws: Code 134060 for a value that does not have its attribute's type.
    func object(_ node: FileStoreNode) throws -> StoreDocument.Object {
        let spelling = spelling(of: node.objectID.entity)
        var object = StoreDocument.Object(entity: spelling.entity, reference: node.reference)
        object.attributes = FileStoreNode.sorted(
            try attributes(of: node, spelling), by: node.attributeNames, name: \.name)
        object.relationships = FileStoreNode.sorted(
            relationships(of: node, spelling), by: node.relationshipNames, name: \.name)
        return object
    }

    private func spelling(of entity: NSEntityDescription) -> Spelling {
        if let known = spellings[ObjectIdentifier(entity)] { return known }
        let spelling = Spelling(entity, format)
        spellings[ObjectIdentifier(entity)] = spelling
        return spelling
    }

    private func attributes(of node: FileStoreNode, _ spelling: Spelling) throws -> [StoreDocument.Attribute] {
        let layout = node.objectID.entity.layout
        return try spelling.attributes.compactMap { slot, kind, name, type in
            var value = try store.value(slot: slot, of: node, layout: layout)
            // A value that the store keeps in memory only: its transformer says why it has no bytes.
            if case .object(let box) = value, kind == .transformable, let attribute = layout.slots[slot].attribute {
                value = .data(try TransformableCoding.encode(box, attribute: attribute))
            }
            return value.isNull
                ? nil : StoreDocument.Attribute(name: name, type: type, value: format.stored(value, kind: kind))
        }
    }

    private func relationships(of node: FileStoreNode, _ spelling: Spelling) -> [StoreDocument.Relationship] {
        spelling.relationships.map { relationship, name, destination in
            var references: [Int64]
            if !relationship.isToMany {
                let member = node.value(forKey: relationship.name) as? FileStoreNode
                references = member.flatMap { store.cache.contains($0) ? [$0.reference] : nil } ?? []
            } else {
                references = node.nodes(forKey: relationship.name).filter(store.cache.contains)
                    .compactMap { ($0 as? FileStoreNode)?.reference }
                if !relationship.isOrdered { references = node.ordered(references, named: name) }
            }
            return StoreDocument.Relationship(
                name: name, isToMany: relationship.isToMany, destination: destination, references: references)
        }
    }
}
