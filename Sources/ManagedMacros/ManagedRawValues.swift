// The values of `@Managed` properties on Apple's platforms whose type the macro cannot determine: enumerations, which are stored as
// their raw values, entities' classes, and the types of transformable attributes. Elsewhere `ManagedProperty` does the same.

#if Macros && canImport(Darwin)
    /// The value of a property for its primitive value. A missing value stops the program, as with `@NSManaged`.
    // Disfavoured, so that the type of an optional property is taken as an optional.
    @_disfavoredOverload
    public func _managedValue<Value>(_ primitive: Any?) -> Value {
        guard let value = primitive as? Value else {
            preconditionFailure("A property of \(Value.self) has the value \(primitive ?? "nil").")
        }
        return value
    }

    /// The value of an optional property for its primitive value.
    public func _managedValue<Value>(_ primitive: Any?) -> Value? { primitive as? Value }

    /// The enumeration's value for its raw value. A raw value that it does not have stops the program.
    public func _managedValue<Value: RawRepresentable>(_ primitive: Any?) -> Value {
        guard let value = (primitive as? Value.RawValue).flatMap(Value.init) else {
            preconditionFailure("A property of \(Value.self) has the value \(primitive ?? "nil").")
        }
        return value
    }

    /// The enumeration's value for its raw value; nil for a raw value that it does not have.
    public func _managedValue<Value: RawRepresentable>(_ primitive: Any?) -> Value? {
        (primitive as? Value.RawValue).flatMap(Value.init)
    }

    /// The primitive value for a value of a property.
    @_disfavoredOverload
    public func _managedPrimitiveValue<Value>(_ value: Value) -> Any? { value }

    /// The primitive value for a value of an optional property.
    public func _managedPrimitiveValue<Value>(_ value: Value?) -> Any? { value }

    /// The raw value of an enumeration.
    public func _managedPrimitiveValue<Value: RawRepresentable>(_ value: Value) -> Any? { value.rawValue }

    /// The raw value of an enumeration, or nil.
    public func _managedPrimitiveValue<Value: RawRepresentable>(_ value: Value?) -> Any? { value?.rawValue }
#endif
