import Foundation

// Key paths, and to-many relationships as mutable collections, which Foundation declares on Apple's platforms only.

extension NSManagedObject {
    final func setValueAtEnd(_ value: Any?, ofKeyPath keyPath: String) {
        if field(of: keyPath) != nil { return setValue(value, forKey: keyPath) }
        let steps = keyPath.split(separator: ".").map(String.init)
        guard let last = steps.last else { return }
        var owner: NSManagedObject? = self
        for step in steps.dropLast() { owner = owner?.value(forKey: step) as? NSManagedObject }
        owner?.setValue(value, forKey: last)
    }

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
        for member in owner?.members(at: index) ?? [] { owner?.removeMember(member, at: index, primitive: isPrimitive) }
    }
}
