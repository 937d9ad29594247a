/// A property of a class with a registered key path, by which key-value coding accesses it.
struct RegisteredProperty {
    /// The value of an object; nil for an object of another class.
    let value: (NSManagedObject) -> Any?
    /// Sets the value of an object; false if the value does not have the property's type. Nil if the property cannot be set.
    let setValue: ((NSManagedObject, Any?) -> Bool)?

    init<Root: NSManagedObject, Value>(_ keyPath: KeyPath<Root, Value>) {
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

extension NSManagedObject {
    /// The property of the class with a name that the model does not have.
    final func registeredProperty(_ key: String) -> RegisteredProperty? {
        KeyPathRegistry.property(key, of: type(of: self))
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
