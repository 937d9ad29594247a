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
    case decimal(Decimal)
    /// A URI, a transformable's value, or whatever an undefined (transient) attribute holds.
    case object(ObjectValue)
    /// The other end of a to-one relationship.
    case reference(ObjectKey)

    var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

/// A value that needs a box: URIs, and the values of transformable and undefined attributes.
///
/// A transformable that nobody has looked at keeps the bytes it was stored as, so that an untouched value is written
/// back bit for bit and never instantiates a class.
final class ObjectValue {
    /// The value, where it is of a value type.
    private let plain: Any?
    /// The value, where it is an object: apart, so that it can be told whether somebody else holds it.
    private var reference: AnyObject?
    /// The bytes it was read from or saved as, where it has any.
    let encoded: Data?

    init(_ value: Any, encoded: Data? = nil) {
        if type(of: value) is AnyClass {
            plain = nil
            reference = value as AnyObject
        } else {
            plain = value
        }
        self.encoded = encoded
    }

    /// The value as the user sees it.
    var value: Any { reference ?? plain ?? NSNull() }

    /// Whether the value is an object that nobody holds but this box.
    var isHeldOnlyHere: Bool { reference != nil && isKnownUniquelyReferenced(&reference) }
}
