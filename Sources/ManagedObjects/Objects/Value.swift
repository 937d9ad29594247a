import Foundation

/// One value of a managed object, as the engine holds it.
///
/// Which case a slot may hold follows from its kind (`EntityLayout.Slot.Kind`): integers and Booleans are `integer`,
/// doubles, floats and dates (seconds since 2001) are `real`. Nothing here is ever `Any`, but for what the user's own
/// transformers produce.
enum Value {
    case null
    case integer(Int64)
    case real(Double)
    case string(String)
    case data(Data)
    case uuid(UUID)
    /// A decimal, a URI, a transformable's value, or whatever an undefined (transient) attribute holds.
    case object(ObjectValue)
    /// The other end of a to-one relationship.
    case reference(ObjectKey)

    var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

/// A value that needs a box: decimals and URIs, and the values of transformable and undefined attributes.
///
/// A transformable that nobody has looked at keeps the bytes it was stored as, so that an untouched value is written
/// back bit for bit and never instantiates a class.
final class ObjectValue {
    /// The value as the user sees it.
    let value: Any
    /// The bytes it was read from or saved as, where it has any.
    let encoded: Data?

    init(_ value: Any, encoded: Data? = nil) {
        self.value = value
        self.encoded = encoded
    }
}
