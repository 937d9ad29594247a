import CoreDataErrors
import Foundation
import KeyedArchives
import ManagedObjects

/// Creates cache nodes from the document of a file, according to the model.
struct FileStoreReader {
    private let store: FileStore
    private let format: any StoreFileFormat.Type
    private let entities: [String: NSEntityDescription]

    init(_ store: FileStore, _ format: any StoreFileFormat.Type) {
        self.store = store
        self.format = format
        entities = Dictionary(
            store.entities.map { (format.entityName($0.name ?? ""), $0) }, uniquingKeysWith: { one, _ in one })
    }

    /// The nodes of all objects.
    ///
    /// - Throws: Code 134020 for an entity or property that the model does not have and that a save would lose; 259 for
    ///   invalid values, for two objects with the same number, and for dangling references.
    func nodes(of document: StoreDocument) throws -> [FileStoreNode] {
        var nodes: [Int64: FileStoreNode] = [:]
        nodes.reserveCapacity(document.objects.count)
        // Sorted by number, which determines the order of rows.
        let objects = document.objects.sorted { $0.reference < $1.reference }
        for object in objects {
            guard let entity = entities[object.entity] else {
                throw unknown("entity “\(object.entity)”")
            }
            let id = store.objectID(for: entity, withReferenceObject: NSNumber(value: object.reference))
            let node = FileStoreNode(objectID: id)
            node.remember(object)
            for attribute in object.attributes { try set(attribute, of: node) }
            guard nodes.updateValue(node, forKey: object.reference) == nil else {
                throw damaged("Two objects have the number \(object.reference).")
            }
        }
        for object in objects {
            guard let node = nodes[object.reference] else { continue }
            for relationship in object.relationships { try set(relationship, of: node, nodes) }
        }
        return Array(nodes.values)
    }

    private func set(_ attribute: StoreDocument.Attribute, of node: FileStoreNode) throws {
        let layout = node.objectID.entity.layout
        let slot = layout.slots.first { slot in
            slot.kind != .toOne && slot.isPersistent
                && slot.name.map { format.propertyName($0) == attribute.name } == true
        }
        guard let slot, let name = slot.name else {
            throw unknown("attribute “\(attribute.name)” of “\(node.objectID.entity.name ?? "")”")
        }
        guard let value = format.value(of: attribute.value, kind: slot.kind) else {
            throw damaged("The value of “\(attribute.name)” of the object \(node.reference) is not \(attribute.type).")
        }
        if slot.kind == .transformable, case .data(let data) = value { node.archives[name] = data }
        var path = name.split(separator: ".").map(String.init)[...]
        guard let first = path.popFirst() else { return }
        node.setValue(
            Self.insert(publicValue(value, slot), at: path, into: node.value(forKey: first)), forKey: first)
    }

    /// A value in the form that cache nodes have.
    private func publicValue(_ value: Value, _ slot: EntityLayout.Slot) -> Any? {
        guard slot.kind == .transformable, case .data(let data) = value, let attribute = slot.attribute else {
            return value.object(kind: slot.kind)
        }
        guard case .object(let box) = TransformableCoding.decode(data, attribute: attribute) else { return nil }
        return box.value
    }

    /// Adds an element to the dictionary of a composite attribute.
    private static func insert(_ value: Any?, at path: ArraySlice<String>, into whole: Any?) -> Any? {
        guard let name = path.first else { return value }
        var dictionary = whole as? [String: Any] ?? [:]
        dictionary[name] = insert(value, at: path.dropFirst(), into: dictionary[name])
        return dictionary
    }

    private func set(
        _ relationship: StoreDocument.Relationship, of node: FileStoreNode, _ nodes: [Int64: FileStoreNode]
    ) throws {
        let entity = node.objectID.entity
        let property = entity.relationshipsByName.values.first {
            format.propertyName($0.name) == relationship.name && !$0.isTransient
        }
        guard let property, let destination = property.destinationEntity else {
            throw unknown("relationship “\(relationship.name)” of “\(entity.name ?? "")”")
        }
        let members = try relationship.references.map { reference in
            guard let member = nodes[reference], member.objectID.entity.isKindOf(entity: destination) else {
                throw damaged(
                    "“\(relationship.name)” of the object \(node.reference) refers to \(reference), which is not a "
                        + "“\(destination.name ?? "")”.")
            }
            return member
        }
        guard !members.isEmpty else { return }
        if !property.isToMany {
            guard members.count == 1 else {
                throw damaged("“\(relationship.name)” of the object \(node.reference) refers to several objects.")
            }
            node.setValue(members[0], forKey: property.name)
        } else if property.isOrdered {
            node.setValue(NSOrderedSet(array: members), forKey: property.name)
        } else {
            node.setValue(Set<NSAtomicStoreCacheNode>(members), forKey: property.name)
        }
    }

    private func damaged(_ sentence: String) -> CocoaError {
        format.damaged(sentence, url: store.url ?? URL(fileURLWithPath: "/"))
    }

    private func unknown(_ name: String) -> CocoaError {
        CocoaError(
            .persistentStoreIncompatibleSchema, "The file has the \(name), which the model does not have.",
            url: store.url)
    }
}

/// The cache node of a store in a file. It keeps the order of the values in its file, so that unchanged content is
/// written as it was read.
final class FileStoreNode: NSAtomicStoreCacheNode {
    /// The names of attributes and relationships in the format's spelling.
    var attributeNames: [String] = []
    var relationshipNames: [String] = []
    /// The references of unordered relationships with several members, by the names of the relationships.
    var references: [String: [Int64]] = [:]

    /// The object's number in the file.
    let reference: Int64
    /// The values. They move to `sharedValues` when a program asks for `propertyCache`: look-ups in Foundation's dictionary cost
    /// several times as much.
    private var values: [String: Any] = [:]
    private var sharedValues: NSMutableDictionary?

    override init(objectID: NSManagedObjectID) {
        reference = (objectID as? ReferencedObjectID).flatMap { Int64($0.text) } ?? 0
        super.init(objectID: objectID)
    }

    override var propertyCache: NSMutableDictionary? {
        get {
            if sharedValues == nil, !values.isEmpty { sharedValues = NSMutableDictionary(dictionary: values) }
            return sharedValues
        }
        set {
            sharedValues = newValue
            values = [:]
        }
    }

    override func value(forKey key: String) -> Any? {
        if let sharedValues { sharedValues[key] } else { values[key] }
    }

    override func setValue(_ value: Any?, forKey key: String) {
        guard sharedValues == nil else { return super.setValue(value, forKey: key) }
        if let value, !(value is NSNull) { values[key] = value } else { values[key] = nil }
    }

    override func savedValues() -> () -> Void {
        guard sharedValues == nil else { return super.savedValues() }
        let values = values
        return {
            self.sharedValues = nil
            self.values = values
        }
    }

    /// Records the order of an object's values in a file.
    func remember(_ object: StoreDocument.Object) {
        attributeNames = object.attributes.map(\.name)
        relationshipNames = object.relationships.map(\.name)
        for relationship in object.relationships where relationship.references.count > 1 {
            references[relationship.name] = relationship.references
        }
    }

    /// The references of a relationship's members: known members in the order of the file, new ones after them by
    /// number.
    func ordered(_ members: [Int64], named name: String) -> [Int64] {
        let known = references[name] ?? []
        let present = Set(members)
        let kept = known.filter(present.contains)
        return kept + present.subtracting(kept).sorted()
    }

    /// Sorts elements in the order of recorded names; others follow in their own order.
    static func sorted<Element>(_ elements: [Element], by names: [String], name: (Element) -> String) -> [Element] {
        if names.isEmpty || names.elementsEqual(elements.lazy.map(name)) { return elements }
        var positions: [String: Int] = [:]
        for (position, name) in names.enumerated() { positions[name] = position }
        return elements.enumerated().sorted { one, other in
            (positions[name(one.element)] ?? .max, one.offset) < (positions[name(other.element)] ?? .max, other.offset)
        }.map(\.element)
    }
}
