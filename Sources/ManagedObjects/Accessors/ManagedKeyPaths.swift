import Foundation
import FoundationAdditions
import Synchronization

/// The superclass of the classes that register the key paths of `@NSManaged` properties.
///
/// The build plugin writes a subclass `ManagedKeyPaths_Note` for a class `Note`, in the same module. The engine finds it by its
/// name, because an extension cannot override ``NSManagedObject/registerKeyPaths()``, and can add a conformance only where no
/// superclass has it.
open class ManagedKeyPaths {
    /// Registers each property of the class in ``KeyPathRegistry``, with the class or a subclass as the root.
    open class func register(of type: NSManagedObject.Type) {}

    /// Registers the key paths of a class and of those that it inherits.
    static func registerAll(of managedObjectClass: NSManagedObject.Type) {
        var next: AnyClass? = managedObjectClass
        while let current = next, current != NSManagedObject.self {
            let parts = String(reflecting: current).split(separator: ".")
            if let module = parts.first,
                let found = NSClassFromString("\(module).ManagedKeyPaths_\(parts.dropFirst().joined(separator: "_"))")
                    as? ManagedKeyPaths.Type
            {
                found.register(of: managedObjectClass)
            }
            next = _getSuperclass(current)
        }
    }
}

/// A class whose properties were generated, in an extension, from a model.
///
/// A generated extension cannot override ``NSManagedObject/registerKeyPaths()``, because Swift does not allow overrides
/// in extensions. So the topmost class of a model conforms to this protocol, and registers the key paths of its
/// subclasses too.
public protocol GeneratedManagedObject: NSManagedObject {
    /// Registers every generated property of the class and of its subclasses in ``KeyPathRegistry``.
    static func registerGeneratedKeyPaths()
}

/// A property's name as a small number, so that an accessor finds its field without hashing a string.
///
/// Equal names have equal numbers for the life of the process, whatever entity they belong to. Cost of creating one: a
/// lock and a look-up; accessors create theirs once.
public struct PropertyName: Sendable, Hashable {
    let number: Int

    /// The number of a name, which is assigned on first use.
    public init(_ name: String) {
        number = Self.names.withLock { names in
            if let number = names.numbers[name] { return number }
            names.numbers[name] = names.strings.count
            names.strings.append(name)
            return names.strings.count - 1
        }
    }

    /// The name. Cost: a lock.
    var string: String { Self.names.withLock { $0.strings[number] } }

    /// All names, by number.
    static var all: [String] { names.withLock { $0.strings } }

    private struct Names {
        var numbers: [String: Int] = [:]
        var strings: [String] = []
    }

    private static let names = Mutex(Names())
}

/// A property of a class with a registered key path, by which key-value coding accesses it.
struct RegisteredProperty: @unchecked Sendable {  // because key paths to properties are immutable
    /// Those of all classes, by name.
    fileprivate static let all = Mutex<[ObjectIdentifier: [String: RegisteredProperty]]>([:])

    /// The value of an object; nil for an object of another class.
    let value: (NSManagedObject) -> Any?
    /// Sets the value of an object; false if the value does not have the property's type. Nil if the property cannot be set.
    let setValue: ((NSManagedObject, Any?) -> Bool)?
    /// Whether the class has accessors of its own, which are not those of the model's property.
    let isImplemented: Bool

    init<Root: NSManagedObject, Value>(_ keyPath: KeyPath<Root, Value>, isImplemented: Bool) {
        self.isImplemented = isImplemented
        value = { object in
            guard let value = (object as? Root)?[keyPath: keyPath] else { return nil }
            return (value as? any OptionalValue)?.isNil == true ? nil : value
        }
        setValue = (keyPath as? ReferenceWritableKeyPath<Root, Value>).map { keyPath in
            { object, value in
                guard let root = object as? Root, let typed = value as? Value else { return false }
                root[keyPath: keyPath] = typed
                return true
            }
        }
    }
}

extension NSManagedObject: KeyPathRegistering {}

extension KeyPathRegistry {
    /// Registers the name of a managed object's property: also one that the class implements itself, and that the model does not
    /// have. Then ``NSManagedObject/value(forKey:)`` returns it, and predicates in memory and section names can use it.
    public static func register<Root: NSManagedObject, Value>(_ keyPath: KeyPath<Root, Value>, as name: String) {
        register(RegisteredProperty(keyPath, isImplemented: false), keyPath, as: name)
    }

    /// Registers a property that the class implements itself. Where the model has an attribute of that name, such as a transient one
    /// that the getter computes, key-value coding, predicates in memory and section names call the property's accessors. Those may
    /// use primitive values, and not the key.
    public static func register<Root: NSManagedObject, Value>(
        implemented keyPath: KeyPath<Root, Value>, as name: String
    ) {
        register(RegisteredProperty(keyPath, isImplemented: true), keyPath, as: name)
    }

    private static func register<Root: NSManagedObject, Value>(
        _ property: RegisteredProperty, _ keyPath: KeyPath<Root, Value>, as name: String
    ) {
        ManagedObjectClasses.shared.register(Root.self)
        setName(name, of: keyPath)
        RegisteredProperty.all.withLock { $0[ObjectIdentifier(Root.self), default: [:]][name] = property }
    }

    /// The registered property of a class with a name; nil if there is none. Cost: two look-ups.
    static func property(_ name: String, of objectClass: NSManagedObject.Type) -> RegisteredProperty? {
        func find() -> RegisteredProperty? {
            RegisteredProperty.all.withLock { $0[ObjectIdentifier(objectClass)]?[name] }
        }
        if let property = find() { return property }
        return registerKeyPaths(from: objectClass) ? find() : nil
    }
}

extension NSManagedObject {
    /// The property of the class with a name that the model does not have.
    final func registeredProperty(_ key: String) -> RegisteredProperty? {
        KeyPathRegistry.property(key, of: type(of: self))
    }

    /// The property by which the class implements the attribute of a slot itself; nil if it does not: then the cost is one load.
    @inline(__always)
    final func implementation(of slot: Int) -> RegisteredProperty? {
        layout.slots[slot].isPlain.load(ordering: .relaxed) ? nil : findImplementation(of: layout.slots[slot])
    }

    private final func findImplementation(of slot: EntityLayout.Slot) -> RegisteredProperty? {
        if let property = slot.name.flatMap(registeredProperty), property.isImplemented { return property }
        if type(of: self) == layout.objectClass, layout.isClassKnown { slot.isPlain.store(true, ordering: .relaxed) }
        return nil
    }

    /// The value of a property of the class that implements an attribute, as key-value coding returns it.
    final func value(of property: RegisteredProperty, slot: Int) -> Any? {
        publicForm(property.value(self), slot: slot)
    }

    /// Sets an attribute by the setter of the class; false if it has none, or one for another type.
    final func setImplementation(of slot: Int, to value: Any?) -> Bool {
        implementation(of: slot)?.setValue?(self, publicForm(value, slot: slot)) == true
    }

    private final func publicForm(_ value: Any?, slot: Int) -> Any? {
        let kind = layout.kinds[slot]
        let raw = (value as? any RawRepresentable)?.rawValue ?? value
        guard kind != .transformable, let converted = try? Value(raw, kind: kind) else { return value }
        return converted.object(kind: kind)
    }

    /// Sets a property of the class; false if there is none with that name.
    final func setRegisteredProperty(_ key: String, to value: Any?) -> Bool {
        guard let setValue = registeredProperty(key)?.setValue else { return false }
        precondition(
            setValue(self, value),
            "Unacceptable type of value for \(type(of: self)).\(key): \(value.map { "\(type(of: $0))" } ?? "nil").")
        return true
    }
}
