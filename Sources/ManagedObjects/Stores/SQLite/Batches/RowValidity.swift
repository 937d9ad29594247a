/// The result of validating a row before it is written.
@_spi(Stores)
public enum RowValidity {
    case valid
    /// The value of the attribute with this name violates a rule of the model.
    case invalid(String)
    /// The stored value of the attribute with this name is in a form that only an object can validate.
    case needsObject(String)
}
