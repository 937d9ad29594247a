import Foundation
import FoundationAdditions

// Key-value coding for the properties of the model. Outside Apple's platforms Foundation has none.

extension NSManagedObject: KeyValueCoded {
    package final func field(of key: String) -> EntityLayout.Field? { layout.fieldsByKey[key] }

    /// The destination of a to-one slot.
    final func relatedObject(slot: Int) -> NSManagedObject? {
        if let cell = rowCell(slot), let page {
            // Read directly from the row, with the origin of the object: its fault may load a batch.
            guard cell.kind == .reference else { return nil }
            let target = ObjectKey(store: page.store, entity: cell.entity, number: Int64(bitPattern: cell.payload))
            return context?.object(for: target, reachedFrom: page, row: row, slot: slot)
        }
        guard case .reference(let target) = slotValue(slot) else { return nil }
        return context?.object(for: target)
    }

    /// The value of a field, as key-value coding returns it.
    package final func publicValue(at field: EntityLayout.Field) -> Any? {
        switch field {
        case .slot(let slot):
            let kind = layout.slots[slot].kind
            if kind == .toOne { return relatedObject(slot: slot) }
            if kind == .transformable { return transformableValue(slot) }
            return slotValue(slot).object(kind: kind)
        case .toMany(let index):
            realise()
            return layout.toMany[index].isOrdered ? orderedMembers(at: index) : memberSet(at: index)
        case .composite(let composite, let range):
            return compositeValue(of: composite, slots: range) { publicValue(at: .slot($0)) }
        case .fetched(let fetched):
            return context?.fetchedValue(of: fetched, source: self) ?? []
        }
    }

    final func memberSet(at index: Int) -> NSSet {
        recentCollection(at: index, .fixed) {
            members(at: index).withUnsafeObjects { NSSet(objects: $0, count: $1) }
        }
    }

    final func orderedMembers(at index: Int) -> NSOrderedSet {
        recentCollection(at: index, .fixed) {
            members(at: index).withUnsafeObjects { NSOrderedSet(objects: $0, count: $1) }
        }
    }

    /// A composite attribute as a dictionary of its elements; nil when all elements are nil.
    final func compositeValue(
        of composite: NSCompositeAttributeDescription, slots: Range<Int>, _ value: (Int) -> Any?
    ) -> [String: Any]? {
        var result: [String: Any] = [:]
        for (slot, path) in elementPaths(of: composite, slots: slots) {
            if let value = value(slot) { KeyedValue.insert(value, into: &result, path: path[...]) }
        }
        return result.isEmpty ? nil : result
    }

    /// The slots of a composite's elements, with the keys that lead to them from the composite.
    private func elementPaths(
        of composite: NSCompositeAttributeDescription, slots: Range<Int>
    ) -> [(slot: Int, path: [String])] {
        // The composite may be an element of another one, whose path its elements' names contain too.
        let own = layout.fields.first { _, field in
            if case .composite(let other, slots) = field { other === composite } else { false }
        }
        let prefix = (own?.key ?? composite.name).count + 1
        return slots.compactMap { slot in
            layout.slots[slot].name.map { (slot, $0.dropFirst(prefix).split(separator: ".").map(String.init)) }
        }
    }

    /// Sets a field to a value from key-value coding.
    ///
    /// - Throws: ``UnacceptableValue`` if the value does not have the property's type.
    package final func setPublicValue(_ value: Any?, at field: EntityLayout.Field, primitive: Bool) throws {
        switch field {
        case .slot(let slot) where layout.slots[slot].kind == .toOne:
            let object = value as? NSManagedObject
            guard object != nil || value == nil || value is NSNull else {
                throw UnacceptableValue(expected: "NSManagedObject", actual: String(describing: type(of: value)))
            }
            try checkDestination(object, slot: slot)
            primitive ? setPrimitiveReference(slot: slot, to: object) : setReference(slot: slot, to: object)
        case .slot(let slot):
            let converted = try Value(value, kind: layout.slots[slot].kind)
            primitive ? setPrimitiveSlot(slot, to: converted) : setSlot(slot, to: converted)
            if case .object(let box) = converted { watch(box, slot: slot) }
        case .toMany(let index):
            try setMembers(Self.objects(in: value), at: index, primitive: primitive)
        case .composite(let composite, let range):
            guard value == nil || value is NSNull || value is [String: Any] else {
                throw UnacceptableValue(expected: "[String: Any]", actual: String(describing: type(of: value)))
            }
            try setComposite(composite, slots: range, to: value as? [String: Any] ?? [:], primitive: primitive)
        case .fetched(let fetched):
            throw UnacceptableValue(expected: "no value for the fetched property \(fetched.name)", actual: "a value")
        }
    }

    /// Sets all elements of a composite, or none if one of the values does not have its element's type.
    private func setComposite(
        _ composite: NSCompositeAttributeDescription, slots: Range<Int>, to dictionary: [String: Any], primitive: Bool
    ) throws {
        let values = try elementPaths(of: composite, slots: slots).map { slot, path in
            let value = path.reduce(dictionary as Any?) { ($0 as? [String: Any])?[$1] }
            return (slot, try Value(value, kind: layout.slots[slot].kind))
        }
        for (slot, value) in values { primitive ? setPrimitiveSlot(slot, to: value) : setSlot(slot, to: value) }
    }

    private func checkDestination(_ object: NSManagedObject?, slot: Int) throws {
        guard let object, let destination = layout.slots[slot].destination else { return }
        guard object.entity.isKindOf(entity: destination) else {
            throw UnacceptableValue(expected: destination.name ?? "", actual: object.entity.name ?? "")
        }
    }

    /// The objects of any kind of collection that can be set for a to-many relationship.
    private static func objects(in value: Any?) throws -> [NSManagedObject] {
        // Compared first, because a cast of another set to this type would convert its elements.
        if let value, type(of: value) == Set<NSManagedObject>.self, let set = value as? Set<NSManagedObject> {
            return Array(set)
        }
        switch value {
        case nil, is NSNull: return []
        case let set as NSOrderedSet: return try objects(set.array)
        case let set as NSSet: return try objects(set.allObjects)
        case let array as [Any]: return try objects(array)
        case let set as Set<AnyHashable>: return try objects(set.map(\.base))
        default: throw UnacceptableValue(expected: "NSSet", actual: String(describing: type(of: value)))
        }
    }

    private static func objects(_ values: [Any]) throws -> [NSManagedObject] {
        if values.isEmpty { return [] }
        var known: Any.Type?
        return try values.map { value in
            if let known, type(of: value) == known {
                // Safe because the type is that of an element that was cast, and a container stores a reference itself.
                return withUnsafeBytes(of: value) { $0.load(as: NSManagedObject.self) }
            }
            guard let object = value as? NSManagedObject else {
                throw UnacceptableValue(expected: "NSManagedObject", actual: String(describing: type(of: value)))
            }
            known = type(of: value)
            return object
        }
    }
}

extension [NSManagedObject] {
    /// Calls a function with the objects in the form that collections of Foundation are created from without casting each.
    fileprivate func withUnsafeObjects<Result>(_ body: (UnsafePointer<AnyObject>?, Int) -> Result) -> Result {
        withUnsafeBufferPointer { objects in
            objects.withMemoryRebound(to: AnyObject.self) { body($0.baseAddress, $0.count) }
        }
    }
}

// MARK: - Keys of primitive values

// `primitiveTitle` is a key of the primitive value of `title`: Apple's Core Data generates a method of that name for each property,
// which key-value coding, properties with @NSManaged and predicates use.

extension NSManagedObject {
    /// The property whose primitive value a key means; nil if the key does not have this form, or the entity no such property.
    final func property(ofPrimitiveKey key: String) -> String? {
        let prefix = "primitive"
        guard key.hasPrefix(prefix) else { return nil }
        let name = key.dropFirst(prefix.count)
        guard let first = name.first, !first.isLowercase else { return nil }
        return [first.lowercased() + name.dropFirst(), String(name)].first { field(of: $0) != nil }
    }

    /// The property whose setter a key with an uppercase letter has too, as `Date` has that of `date`; nil if there is none.
    final func property(withSetterOf key: String) -> String? {
        guard let first = key.first, first.isUppercase else { return nil }
        let name = first.lowercased() + key.dropFirst()
        return field(of: name) == nil ? nil : name
    }
}

// MARK: - Mutable collections

// Key paths, and to-many relationships as mutable collections, which Foundation declares on Apple's platforms only.

extension NSManagedObject {
    /// The object whose property is the last key of a path, and that key. A path through a missing object is a programmer error,
    /// because there is nothing to change.
    final func end(ofKeyPath keyPath: String) -> (owner: NSManagedObject, key: String) {
        if field(of: keyPath) != nil { return (self, keyPath) }
        let steps = keyPath.split(separator: ".").map(String.init)
        var owner = self
        for step in steps.dropLast() {
            guard let next = owner.value(forKey: step) as? NSManagedObject else {
                preconditionFailure(
                    "\(owner.entity.name ?? "").\(step) has no object, so “\(keyPath)” cannot be changed.")
            }
            owner = next
        }
        return (owner, steps.last ?? keyPath)
    }

    final func relationshipSet(forKey key: String) -> RelationshipSet {
        let primitive = primitiveProperty(of: key)
        guard case .toMany(let index)? = field(of: primitive ?? key) else {
            preconditionFailure("\(entity.name ?? "") has no to-many relationship \"\(key)\".")
        }
        return RelationshipSet(owner: self, index: index, isPrimitive: primitive != nil)
    }

    final func relationshipOrderedSet(forKey key: String) -> RelationshipOrderedSet {
        let primitive = primitiveProperty(of: key)
        guard case .toMany(let index)? = field(of: primitive ?? key), layout.toMany[index].isOrdered else {
            preconditionFailure("\(entity.name ?? "") has no ordered to-many relationship \"\(key)\".")
        }
        guard primitive == nil else { return RelationshipOrderedSet(owner: self, index: index, isPrimitive: true) }
        return recentCollection(at: index, .mutable) { RelationshipOrderedSet(owner: self, index: index) }
    }

    /// The property whose primitive value a key means; nil if the key is a property's own name.
    private func primitiveProperty(of key: String) -> String? {
        field(of: key) == nil ? property(ofPrimitiveKey: key) : nil
    }
}

/// The set that ``NSManagedObject/mutableSetValue(forKey:)`` and ``NSManagedObject/primitiveValue(forKey:)`` return.
final class RelationshipSet: NSMutableSet {
    private var owner: NSManagedObject?
    private var index = 0
    /// Whether changes do not update the inverse, because the accessor that makes them does.
    private var isPrimitive = false

    convenience init(owner: NSManagedObject, index: Int, isPrimitive: Bool = false) {
        self.init(capacity: 0)
        self.owner = owner
        self.index = index
        self.isPrimitive = isPrimitive
    }

    required init(capacity numItems: Int) { super.init(capacity: numItems) }

    override init(objects: UnsafePointer<AnyObject>?, count: Int) { super.init(objects: objects, count: count) }

    required convenience init?(coder: NSCoder) { nil }

    override var count: Int { owner?.loadedToManyState(at: index).count ?? 0 }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSManagedObject, let owner, object.context === owner.context else { return nil }
        return owner.loadedToManyState(at: index).contains(object.key) ? object : nil
    }

    override func objectEnumerator() -> NSEnumerator {
        NSArray(array: owner?.members(at: index) ?? []).objectEnumerator()
    }

    // Foundation's own description stops the process for a subclass.
    override var description: String { NSSet(array: allObjects).description }

    override func add(_ object: Any) {
        guard let object = object as? NSManagedObject else { return }
        owner?.addMember(object, at: index, primitive: isPrimitive)
    }

    override func remove(_ object: Any) {
        guard let object = object as? NSManagedObject else { return }
        owner?.removeMember(object, at: index, primitive: isPrimitive)
    }

    override func removeAllObjects() {
        guard let owner else { return }
        remove(owner.members(at: index))
    }

    override func addObjects(from array: [Any]) { add(array.compactMap { $0 as? NSManagedObject }) }

    override func union(_ other: Set<AnyHashable>) { add(other.compactMap { $0.base as? NSManagedObject }) }

    override func minus(_ other: Set<AnyHashable>) { remove(other.compactMap { $0.base as? NSManagedObject }) }

    override func intersect(_ other: Set<AnyHashable>) {
        guard let owner else { return }
        remove(owner.members(at: index).filter { !other.contains($0) })
    }

    private func add(_ objects: [NSManagedObject]) { owner?.addMembers(objects, at: index, primitive: isPrimitive) }

    private func remove(_ members: [NSManagedObject]) {
        owner?.removeMembers(members, at: index, primitive: isPrimitive)
    }
}
