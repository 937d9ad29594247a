import Foundation

/// A type that a ``ManagedProperty`` reads and writes without key-value coding.
///
/// These are: `Bool`, the integers of Core Data and `Int`, `Double`, `Float`, `Decimal`, `NSDecimalNumber`, `NSNumber`,
/// `String`, `Date`, `Data`, `UUID`, `URL`, and managed objects, and optionals of these; for to-many relationships
/// `NSSet`, `NSOrderedSet`, sets and arrays of managed objects.
public protocol ManagedPropertyValue {
    /// The value of an object's property, or the type's empty value if it is missing. No statement, except for a
    /// fault.
    static func managedValue(of name: PropertyName, in object: NSManagedObject) -> Self
    /// Sets the value of an object's property.
    static func setManagedValue(_ value: Self, of name: PropertyName, in object: NSManagedObject)
}

/// A type of values of an attribute or a to-one relationship, which may be missing.
public protocol ManagedSlotValue: ManagedPropertyValue {
    /// The value of an object's property, or nil. No statement, except for a fault.
    static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Self?
    /// Sets the value of an object's property, or clears it.
    static func setManagedValueIfAny(_ value: Self?, of name: PropertyName, in object: NSManagedObject)
    /// The value of a missing property whose type is not optional.
    static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Self
}

extension ManagedSlotValue {
    @inlinable
    public static func managedValue(of name: PropertyName, in object: NSManagedObject) -> Self {
        managedValueIfAny(of: name, in: object) ?? missingManagedValue(of: name, in: object)
    }

    @inlinable
    public static func setManagedValue(_ value: Self, of name: PropertyName, in object: NSManagedObject) {
        setManagedValueIfAny(value, of: name, in: object)
    }
}

extension Optional: ManagedPropertyValue where Wrapped: ManagedSlotValue {
    @inlinable
    public static func managedValue(of name: PropertyName, in object: NSManagedObject) -> Wrapped? {
        Wrapped.managedValueIfAny(of: name, in: object)
    }

    @inlinable
    public static func setManagedValue(_ value: Wrapped?, of name: PropertyName, in object: NSManagedObject) {
        Wrapped.setManagedValueIfAny(value, of: name, in: object)
    }
}

// MARK: - Related objects

extension NSManagedObject: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Self? {
        guard let slot = object.readSlot(of: name) else { return object.declaredValue(of: name) as? Self }
        return object.relatedObject(slot: slot) as? Self
    }

    public static func setManagedValueIfAny(
        _ value: NSManagedObject?, of name: PropertyName, in object: NSManagedObject
    ) {
        guard let slot = object.slot(of: name), object.layout.kinds[slot] == .toOne else {
            return object.setDeclaredValue(value, of: name)
        }
        if let value, let destination = object.layout.slots[slot].destination,
            !value.layout.isKind(of: destination)
        {
            // Reports the expected type.
            return object.setDeclaredValue(value, of: name)
        }
        object.setReference(slot: slot, to: value)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Self {
        object.stopAtMissingValue(of: name)
    }
}

// MARK: - Members of to-many relationships

// A property that is no to-many relationship is accessed by key-value coding: a fetched property, a transformable attribute, or
// the primitive value of a relationship.

extension NSSet: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Self? {
        guard let index = object.readToManyIndex(of: name) else { return object.declaredValue(of: name) as? Self }
        return object.memberSet(at: index) as? Self
    }

    public static func setManagedValueIfAny(_ value: NSSet?, of name: PropertyName, in object: NSManagedObject) {
        guard let index = object.toManyIndexIfAny(of: name) else { return object.setDeclaredValue(value, of: name) }
        object.setMembersOrStop(value?.managedObjects ?? [], at: index)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Self {
        object.stopAtMissingValue(of: name)
    }
}

extension NSOrderedSet: ManagedSlotValue {
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Self? {
        guard let index = object.readToManyIndex(of: name) else { return object.declaredValue(of: name) as? Self }
        return object.orderedMembers(at: index) as? Self
    }

    public static func setManagedValueIfAny(
        _ value: NSOrderedSet?, of name: PropertyName, in object: NSManagedObject
    ) {
        guard let index = object.toManyIndexIfAny(of: name) else { return object.setDeclaredValue(value, of: name) }
        object.setMembersOrStop(value?.managedObjects ?? [], at: index)
    }

    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Self {
        object.stopAtMissingValue(of: name)
    }
}

// `@inlinable`, so that the caller's module creates arrays and sets of the concrete class.
extension Array: ManagedPropertyValue, ManagedSlotValue where Element: NSManagedObject {
    /// The members in order; the order is undefined if the relationship is not ordered.
    @inlinable
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> [Element]? {
        let members = object.members(of: name)
        // If all members are of the class, the array itself is returned.
        if members.areAll(Element.self) { return unsafeBitCast(members, to: [Element].self) }
        return members.compactMap { $0 as? Element }
    }

    @inlinable
    public static func setManagedValueIfAny(_ value: [Element]?, of name: PropertyName, in object: NSManagedObject) {
        object.setMembers(value ?? [], of: name)
    }

    @inlinable
    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> [Element] { [] }
}

extension Set: ManagedPropertyValue, ManagedSlotValue where Element: NSManagedObject {
    @inlinable
    public static func managedValueIfAny(of name: PropertyName, in object: NSManagedObject) -> Set<Element>? {
        var typed: Set<Element> = []
        object.withMembers(of: name) { found in
            if found.isEmpty { return }
            guard found.areAll(Element.self) else {
                typed = Set(found.lazy.compactMap { $0 as? Element })
                return
            }
            // With spare capacity, because comparing members that collide in the table is expensive. A new set, because
            // enlarging one looks its type up.
            var members = Set<Element>(minimumCapacity: found.count * 2)
            for member in found { members.insert(unsafeDowncast(member, to: Element.self)) }
            typed = members
        }
        return typed
    }

    @inlinable
    public static func setManagedValueIfAny(
        _ value: Set<Element>?, of name: PropertyName, in object: NSManagedObject
    ) {
        object.setMembers(value.map { Array($0) } ?? [], of: name)
    }

    @inlinable
    public static func missingManagedValue(of name: PropertyName, in object: NSManagedObject) -> Set<Element> { [] }
}

extension [NSManagedObject] {
    /// Whether all objects are of a class.
    @inlinable
    package func areAll<Member>(_ type: Member.Type) -> Bool { withUnsafeBufferPointer { $0.areAll(type) } }
}

extension UnsafeBufferPointer<NSManagedObject> {
    /// Whether all objects are of a class. Consecutive objects of the same class are checked once.
    @inlinable
    func areAll<Member>(_ type: Member.Type) -> Bool {
        var seen: ObjectIdentifier?
        for object in self {
            let objectClass = ObjectIdentifier(Swift.type(of: object))
            if objectClass == seen { continue }
            guard object is Member else { return false }
            seen = objectClass
        }
        return true
    }
}

extension NSManagedObject {
    /// Stops the program at a nil value of a property whose declared type is not optional, which is a programmer error.
    final func stopAtMissingValue(of name: PropertyName) -> Never {
        preconditionFailure("\(entity.name ?? "").\(name.string) is nil. Declare its type optional.")
    }

    /// The members of a to-many relationship, or the objects of another property.
    @usableFromInline
    final func members(of name: PropertyName) -> [NSManagedObject] {
        if let index = readToManyIndex(of: name) { return members(at: index) }
        switch declaredValue(of: name) {
        case nil: return []
        case let set as NSSet: return set.managedObjects
        case let set as NSOrderedSet: return set.managedObjects
        case let array as [NSManagedObject]: return array
        default: preconditionFailure("\(entity.name ?? "").\(name.string) is not a collection of managed objects.")
        }
    }

    /// Calls a closure with the members of a to-many relationship, or the objects of another property.
    @usableFromInline
    final func withMembers(of name: PropertyName, _ body: (UnsafeBufferPointer<NSManagedObject>) -> Void) {
        if let index = toManyIndexIfAny(of: name) {
            noteReading(name)
            return withMembers(at: index, body)
        }
        members(of: name).withUnsafeBufferPointer(body)
    }

    @usableFromInline
    final func setMembers(_ members: [NSManagedObject], of name: PropertyName) {
        guard let index = toManyIndexIfAny(of: name) else { return setDeclaredValue(members, of: name) }
        setMembersOrStop(members, at: index)
    }
}
