import FoundationAdditions
import Foundation

// How classes access their properties.
//
// Generated classes and `@Managed` use `ManagedProperty`, which identifies a property by a number. Outside Apple's
// platforms the name of a property cannot be derived from a key path. So before the engine looks up the first key path
// of a class, it calls the class's `registerKeyPaths()`, which registers names. The macro overrides this method, with
// `Self` as the root of the key paths, because an inherited property has another key path in each subclass; generated
// code is in extensions, which cannot override methods, so the topmost generated class conforms to
// `GeneratedManagedObject` and registers the key paths of its subclasses too. Key paths without a property in the model
// are those of properties that a class implements itself: the plugin registers those with `@objc`, and key-value coding
// reads them (`RegisteredProperty`). In the model that the plugin compiles, every class name includes the module. Names
// without a module are looked up in `ProgramClasses`, which reads the lists of types that Swift's runtime keeps for
// each library; `NSClassFromString` finds a Swift class only by its full name.

/// Typed access to one property of managed objects, used by generated classes and the macro `@Managed`.
///
/// ```swift
/// private static let titleProperty = ManagedProperty<String?>("title")
/// public var title: String? {
///     get { Self.titleProperty[self] }
///     set { Self.titleProperty[self] = newValue }
/// }
/// ```
///
/// It identifies its property by a number, so that reading and writing look up no string and box no value.
/// ``ManagedPropertyValue`` lists the supported types; any other type uses key-value coding: transformable and
/// composite attributes, fetched properties.
public struct ManagedProperty<Value>: Sendable {
    @usableFromInline let name: PropertyName

    /// - Parameter name: The name of the property in the model.
    public init(_ name: String) {
        self.name = PropertyName(name)
    }
}

// `@inlinable`, because an accessor is called for every value of every object: the caller's module can then specialise
// it for the concrete type.
extension ManagedProperty where Value: ManagedPropertyValue {
    /// The value of an object. Realises a fault, as key-value coding does. A missing value of a type that is not
    /// optional is zero or empty; a missing related object stops the program.
    ///
    /// Setting marks the object as changed, calls `willChangeValue(forKey:)` and `didChangeValue(forKey:)`, and updates
    /// the inverse of a relationship.
    @inlinable
    public subscript(object: NSManagedObject) -> Value {
        get { Value.managedValue(of: name, in: object) }
        nonmutating set { Value.setManagedValue(newValue, of: name, in: object) }
    }
}

extension ManagedProperty {
    /// The value of an object by key-value coding, for types that do not conform to ``ManagedPropertyValue``.
    ///
    /// A stored value of another type is nil, and `decodedValue(forKey:as:)` of the toolkit throws the reason. A property whose type
    /// is an array, a set or a dictionary of Swift is empty then, and what is assigned to it does not replace the stored value: it may
    /// be the empty value, changed in place. The next save throws 1550, until the stored value is removed by
    /// `setValue(nil, forKey:)`. A property of any other type that is not optional stops the program with a message, as Core Data's
    /// own accessors do. Where stored values may come from others, declare the property as optional.
    // Disfavoured, so that an optional enumeration is read and written by its raw value.
    @_disfavoredOverload
    public subscript(object: NSManagedObject) -> Value {
        get {
            let value = object.declaredValue(of: name)
            if let typed = value as? Value { return typed }
            let missing: Any? = nil
            if let missing = missing as? Value { return missing }
            if let empty = (Value.self as? any SwiftCollection.Type)?.init() as? Value { return empty }
            preconditionFailure(
                "\(object.entity.name ?? "").\(name.string) was expected to be \(Value.self), "
                    + "but is \(value.map { String(describing: type(of: $0)) } ?? "nil").")
        }
        nonmutating set {
            if Value.self is any SwiftCollection.Type, object.hasValue(forKey: name.string, otherThan: Value.self) {
                return object.refuseReplacement(forKey: name.string, by: Value.self)
            }
            let isNil = (newValue as? (any OptionalValue))?.isNil ?? false
            object.setDeclaredValue(isNil ? nil : newValue as Any, of: name)
        }
    }
}

/// The collections of Swift: an empty one that is changed in place is assigned afterwards. An empty object, such as an
/// `NSMutableArray`, would be changed without the knowledge of the managed object.
protocol SwiftCollection {
    init()
}

extension Array: SwiftCollection {}
extension Set: SwiftCollection {}
extension Dictionary: SwiftCollection {}

/// Detects nil in a value of unknown type.
protocol OptionalValue {
    var isNil: Bool { get }
}

extension Optional: OptionalValue {
    var isNil: Bool { self == nil }
}

// MARK: - Editing to-many relationships

extension ManagedProperty {
    /// Adds an object to a to-many relationship, at the end of an ordered one.
    public func add(_ member: NSManagedObject, to object: NSManagedObject) {
        object.addMember(member, at: object.toManyIndex(of: name))
    }

    /// Removes a member from a relationship.
    public func remove(_ member: NSManagedObject, from object: NSManagedObject) {
        object.removeMember(member, at: object.toManyIndex(of: name))
    }

    /// Adds members to a relationship.
    public func add(_ members: NSSet, to object: NSManagedObject) {
        object.addMembers(members.managedObjects, at: object.toManyIndex(of: name))
    }

    /// Removes members from a relationship.
    public func remove(_ members: NSSet, from object: NSManagedObject) {
        object.removeMembers(members.managedObjects, at: object.toManyIndex(of: name))
    }

    /// Adds members to an ordered relationship, at its end.
    public func add(_ members: NSOrderedSet, to object: NSManagedObject) {
        object.addMembers(members.managedObjects, at: object.toManyIndex(of: name))
    }

    /// Removes members from an ordered relationship.
    public func remove(_ members: NSOrderedSet, from object: NSManagedObject) {
        object.removeMembers(members.managedObjects, at: object.toManyIndex(of: name))
    }

    /// Inserts an object into an ordered relationship, at a zero-based position.
    public func insert(_ member: NSManagedObject, into object: NSManagedObject, at position: Int) {
        object.addMember(member, at: object.toManyIndex(of: name), position: position)
    }

    /// Inserts objects so that each has its position after all are inserted.
    public func insert(_ members: [NSManagedObject], into object: NSManagedObject, at positions: NSIndexSet) {
        let (index, positions) = (object.toManyIndex(of: name), positions as IndexSet)
        object.changeMembersAtOnce(at: index, MemberChange(.insertion, added: members, indexes: positions)) {
            for (member, position) in zip(members, positions) {
                object.addMember(member, at: index, position: position)
            }
        }
    }

    /// Removes the member at a position from an ordered relationship.
    public func remove(at position: Int, from object: NSManagedObject) {
        remove(at: NSIndexSet(index: position), from: object)
    }

    /// Removes the members at positions from an ordered relationship.
    public func remove(at positions: NSIndexSet, from object: NSManagedObject) {
        let index = object.toManyIndex(of: name)
        let members = object.members(at: index)
        let removed = (positions as IndexSet).filter(members.indices.contains).map { members[$0] }
        object.removeMembers(removed, at: index)
    }

    /// Replaces the member at a position of an ordered relationship.
    public func replace(at position: Int, in object: NSManagedObject, with member: NSManagedObject) {
        replace(at: NSIndexSet(index: position), in: object, with: [member])
    }

    /// Replaces the members at positions of an ordered relationship.
    public func replace(at positions: NSIndexSet, in object: NSManagedObject, with members: [NSManagedObject]) {
        let index = object.toManyIndex(of: name)
        var all = object.members(at: index)
        for (position, member) in zip(positions as IndexSet, members) where all.indices.contains(position) {
            all[position] = member
        }
        object.changeMembersAtOnce(
            at: index, object.replacement(at: positions as IndexSet, by: members, at: index)
        ) {
            object.setMembersOrStop(all, at: index)
        }
    }
}

extension NSManagedObject {
    /// Replaces all members. An object of a wrong entity is a programmer error.
    final func setMembersOrStop(_ objects: [NSManagedObject], at index: Int) {
        do {
            try setMembers(objects, at: index)
        } catch {
            preconditionFailure(
                "Unacceptable member of \(entity.name ?? "").\(layout.toMany[index].name): \(error)")
        }
    }
}

extension NSSet {
    var managedObjects: [NSManagedObject] { allObjects.compactMap { $0 as? NSManagedObject } }
}

extension NSOrderedSet {
    var managedObjects: [NSManagedObject] { array.compactMap { $0 as? NSManagedObject } }
}

// MARK: - Raw values

// Properties of the type of an enumeration, or another type with raw values: the attribute has the raw value.

extension ManagedProperty where Value: RawRepresentable, Value.RawValue: ManagedSlotValue {
    /// The value with the attribute's raw value. An attribute without a value has the raw value zero or an empty one.
    ///
    /// A raw value that the type does not have stops the program with a message; a property of an optional type is nil then.
    public subscript(object: NSManagedObject) -> Value {
        get {
            let rawValue = Value.RawValue.managedValue(of: name, in: object)
            guard let value = Value(rawValue: rawValue) else {
                preconditionFailure(
                    "\(object.entity.name ?? "").\(name.string) is \(rawValue), which is not a raw value of \(Value.self). "
                        + "Declare the property as \(Value.self)?, or give the attribute a default value.")
            }
            return value
        }
        nonmutating set { Value.RawValue.setManagedValue(newValue.rawValue, of: name, in: object) }
    }
}

extension ManagedProperty {
    /// The value with the attribute's raw value; nil for no value, and for a raw value that the type does not have.
    public subscript<Wrapped: RawRepresentable>(object: NSManagedObject) -> Wrapped?
    where Value == Wrapped?, Wrapped.RawValue: ManagedSlotValue {
        get { Wrapped.RawValue.managedValueIfAny(of: name, in: object).flatMap(Wrapped.init) }
        nonmutating set { Wrapped.RawValue.setManagedValueIfAny(newValue?.rawValue, of: name, in: object) }
    }
}
