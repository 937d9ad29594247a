import Foundation

// Key-value coding for the properties of the model. Outside Apple's platforms Foundation has none.

extension NSManagedObject {
    final func field(of key: String) -> EntityLayout.Field? { layout.fieldsByKey[key] }

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
    final func publicValue(at field: EntityLayout.Field) -> Any? {
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
            return compositeValue(of: composite, slots: range)
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
    private func compositeValue(of composite: NSCompositeAttributeDescription, slots: Range<Int>) -> [String: Any]? {
        var result: [String: Any] = [:]
        let prefix = compositePath(of: composite)
        for slot in slots {
            guard let path = layout.slots[slot].name, let value = publicValue(at: .slot(slot)) else { continue }
            insert(value, into: &result, path: path.dropFirst(prefix.count + 1).split(separator: ".").map(String.init))
        }
        return result.isEmpty ? nil : result
    }

    private func compositePath(of composite: NSCompositeAttributeDescription) -> String {
        for (path, field) in layout.fields {
            if case .composite(let other, _) = field, other === composite { return path }
        }
        return composite.name
    }

    private func insert(_ value: Any, into dictionary: inout [String: Any], path: [String]) {
        guard let first = path.first else { return }
        if path.count == 1 {
            dictionary[first] = value
        } else {
            var nested = dictionary[first] as? [String: Any] ?? [:]
            insert(value, into: &nested, path: Array(path.dropFirst()))
            dictionary[first] = nested
        }
    }

    /// Sets a field to a value from key-value coding.
    ///
    /// - Throws: ``UnacceptableValue`` if the value does not have the property's type.
    final func setPublicValue(_ value: Any?, at field: EntityLayout.Field, primitive: Bool) throws {
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
        case .composite(_, let range):
            guard value == nil || value is NSNull || value is [String: Any] else {
                throw UnacceptableValue(expected: "[String: Any]", actual: String(describing: type(of: value)))
            }
            try setComposite(value as? [String: Any] ?? [:], slots: range)
        case .fetched(let fetched):
            throw UnacceptableValue(expected: "no value for the fetched property \(fetched.name)", actual: "a value")
        }
    }

    private func setComposite(_ dictionary: [String: Any], slots: Range<Int>) throws {
        for slot in slots {
            guard let path = layout.slots[slot].name?.split(separator: ".").dropFirst() else { continue }
            var value: Any? = dictionary
            for part in path { value = (value as? [String: Any])?[String(part)] }
            setSlot(slot, to: try Value(value, kind: layout.slots[slot].kind))
        }
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
