import CoreDataErrors
import Foundation
import ManagedObjects

/// The ID and the values of one object in an atomic store.
///
/// The values are in ``propertyCache``, by name: the values of attributes, a dictionary for a composite attribute, the
/// destination's cache node for a to-one relationship, a set of cache nodes for a to-many relationship, an
/// `NSOrderedSet` or an array of them for an ordered one. Properties without a value are absent.
open class NSAtomicStoreCacheNode: NSObject {
    private let id: NSManagedObjectID

    /// The ID of the object.
    open var objectID: NSManagedObjectID { id }

    /// The values by property name; nil until one is set.
    open var propertyCache: NSMutableDictionary?

    /// The bytes from which transformable values were decoded or to which they were encoded, by name. Encoding a value
    /// again may give different bytes, so unchanged values are written as before.
    final var archives: [String: Data] = [:]

    /// A node without values.
    public init(objectID moid: NSManagedObjectID) { id = moid }

    /// The value of a property.
    open func value(forKey key: String) -> Any? { propertyCache?[key] }

    /// Sets the value of a property; nil and `NSNull` remove it.
    open func setValue(_ value: Any?, forKey key: String) {
        let values = propertyCache ?? NSMutableDictionary()
        propertyCache = values
        if let value, !(value is NSNull) { values[key] = value } else { values.removeObject(forKey: key) }
    }

    /// Saves the present values. The returned function restores them.
    func savedValues() -> () -> Void {
        let values = propertyCache?.mutableCopy() as? NSMutableDictionary
        return { self.propertyCache = values }
    }

    /// The nodes of a to-many relationship's members, in the order of its collection.
    final func nodes(forKey key: String) -> [NSAtomicStoreCacheNode] {
        switch value(forKey: key) {
        case let nodes as Set<NSAtomicStoreCacheNode>: Array(nodes)
        case let nodes as [NSAtomicStoreCacheNode]: nodes
        case let nodes as NSOrderedSet: nodes.array.compactMap { $0 as? NSAtomicStoreCacheNode }
        case let nodes as NSSet: nodes.allObjects.compactMap { $0 as? NSAtomicStoreCacheNode }
        case let nodes as NSArray: nodes.compactMap { $0 as? NSAtomicStoreCacheNode }
        default: []
        }
    }
}

// Conversions between managed objects, cache nodes and rows.

extension NSAtomicStore {
    // MARK: - Objects to nodes

    final func setAttributes(of node: NSAtomicStoreCacheNode, from object: NSManagedObject) {
        for (name, attribute) in object.entity.attributesByName where !attribute.isTransient {
            guard let field = object.entity.layout.fields[name] else { continue }
            if case .slot(let slot) = field, object.entity.layout.slots[slot].kind == .transformable {
                setTransformable(attribute, slot, of: node, from: object)
            } else {
                node.setValue(object.publicValue(at: field), forKey: name)
            }
        }
    }

    /// Sets a copy of a transformable value, as it would be decoded from a file. If the value cannot be encoded, the
    /// node gets the value itself. Objects that are read from it have that value.
    private func setTransformable(
        _ attribute: NSAttributeDescription, _ slot: Int, of node: NSAtomicStoreCacheNode, from object: NSManagedObject
    ) {
        guard case .object(let box) = object.slotValue(slot) else { return node.setValue(nil, forKey: attribute.name) }
        guard let data = try? TransformableCoding.bytes(of: box.value, attribute: attribute),
            case .object(let copy) = TransformableCoding.decode(data, attribute: attribute)
        else { return node.setValue(box.value, forKey: attribute.name) }
        let known = box.encoded ?? node.archives[attribute.name]
        node.archives[attribute.name] = known.flatMap { TransformableCoding.areSame($0, data) ? $0 : nil } ?? data
        node.setValue(copy.value, forKey: attribute.name)
    }

    final func setRelationships(of node: NSAtomicStoreCacheNode, from object: NSManagedObject) {
        let layout = object.entity.layout
        for slot in layout.referenceSlots where layout.slots[slot].isPersistent {
            guard let name = layout.slots[slot].name else { continue }
            node.setValue(object.slotValue(slot).referenceKey.flatMap { self.node(for: $0) }, forKey: name)
        }
        for (index, toMany) in layout.toMany.enumerated() where toMany.isPersistent {
            // Unchanged members are already in the node.
            if node.value(forKey: toMany.name) != nil, object.toManyState(at: index)?.isChanged != true { continue }
            let members = object.memberKeys(at: index).compactMap { self.node(for: $0) }
            if members.isEmpty {
                node.setValue(nil, forKey: toMany.name)
            } else if toMany.isOrdered {
                node.setValue(NSOrderedSet(array: members), forKey: toMany.name)
            } else {
                node.setValue(Set(members), forKey: toMany.name)
            }
        }
    }

    private func node(for key: ObjectKey) -> NSAtomicStoreCacheNode? {
        cache.entry(of: key.number, root: entities[Int(key.entity)].rootEntity.index)?.node
    }

    // MARK: - Nodes to rows

    final func key(of node: NSAtomicStoreCacheNode) -> ObjectKey {
        ObjectKey(
            store: number, entity: UInt16(truncatingIfNeeded: node.objectID.entity.index),
            number: node.objectID.key.number)
    }

    /// The row of the object with a key.
    final func row(_ key: ObjectKey) throws -> ValueRow? {
        let root = entities[Int(key.entity)].rootEntity.index
        guard let entry = cache.entry(of: key.number, root: root) else { return nil }
        let own = self.key(of: entry.node)
        return ValueRow(
            entity: own.entity, version: entry.version,
            values: try values(of: entry.node, layout: entities[Int(own.entity)].layout))
    }

    /// A node's values by slot. Transformable values are the bytes of their transformers; hidden slots are empty.
    ///
    /// - Throws: Code 134060 for a value that does not have its attribute's type.
    final func values(of node: NSAtomicStoreCacheNode, layout: EntityLayout) throws -> ContiguousArray<Value> {
        var values = ContiguousArray<Value>(repeating: .null, count: layout.slots.count)
        for slot in 0..<values.count { values[slot] = try value(slot: slot, of: node, layout: layout) }
        return values
    }

    /// A node's value for one slot.
    ///
    /// - Throws: Code 134060 for a value that does not have the attribute's type.
    final func value(slot index: Int, of node: NSAtomicStoreCacheNode, layout: EntityLayout) throws -> Value {
        let slot = layout.slots[index]
        guard slot.isPersistent, let name = slot.name,
            let value = slot.isElement ? Self.value(at: name, of: node) : node.value(forKey: name)
        else { return .null }
        do {
            return try self.value(value, slot: slot, archive: node.archives[name])
        } catch let error as UnacceptableValue {
            throw CocoaError(
                .coreData,
                "The cache node of \(node.objectID.uriRepresentation().absoluteString) has a value of type "
                    + "\(error.actual) for “\(name)”; expected: \(error.expected).",
                url: url)
        }
    }

    private func value(_ value: Any, slot: EntityLayout.Slot, archive: Data?) throws -> Value {
        if slot.kind == .toOne {
            switch value {
            case let node as NSAtomicStoreCacheNode: return .reference(key(of: node))
            case let id as NSManagedObjectID: return key(of: id).map { .reference($0) } ?? .null
            case is NSNull: return .null
            default: throw UnacceptableValue(expected: "NSAtomicStoreCacheNode", actual: "\(Swift.type(of: value))")
            }
        }
        let value = try Value(value, kind: slot.kind)
        guard case .object(let box) = value, slot.kind == .transformable, let attribute = slot.attribute else {
            return value
        }
        guard let data = try? TransformableCoding.encode(box, attribute: attribute) else { return value }
        return .data(archive.flatMap { TransformableCoding.areSame($0, data) ? $0 : nil } ?? data)
    }

    /// The value at the path of an element of a composite attribute: elements are in dictionaries.
    private static func value(at path: String, of node: NSAtomicStoreCacheNode) -> Any? {
        var steps = path.split(separator: ".").map(String.init)[...]
        var value = steps.popFirst().flatMap { node.value(forKey: $0) }
        while let step = steps.popFirst() { value = (value as? [String: Any])?[step] }
        return value
    }

    /// The keys of a to-many relationship's members, in its order or, if it is unordered, in ascending order.
    final func memberKeys(of toMany: EntityLayout.ToMany, owner: Int64) -> [ObjectKey] {
        let root = toMany.relationship.entity.rootEntity.index
        guard let node = cache.entry(of: owner, root: root)?.node else { return [] }
        let keys = node.nodes(forKey: toMany.name).filter(cache.contains).map(key)
        return toMany.isOrdered ? keys : keys.sorted { $0.number < $1.number }
    }
}
