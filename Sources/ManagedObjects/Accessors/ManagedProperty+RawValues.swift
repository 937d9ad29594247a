import Foundation

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
