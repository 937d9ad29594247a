import Foundation

/// One value of a managed object in the engine's representation.
///
/// The case depends on the slot's kind (`EntityLayout.Slot.Kind`): integers and Booleans are `integer`, doubles, floats
/// and dates (seconds since 2001) are `real`. Only values of URIs, transformable and undefined attributes are `Any`.
enum Value {
    case null
    case integer(Int64)
    case real(Double)
    case string(String)
    case data(Data)
    case uuid(UUID)
    case decimal(Decimal)
    /// A URI, a transformable's value, or the value of an undefined (transient) attribute.
    case object(ObjectValue)
    /// The destination of a to-one relationship.
    case reference(ObjectKey)

    var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

/// A value that needs a box: a URI, or the value of a transformable or undefined attribute.
///
/// A transformable keeps the bytes that it was stored as, so that an unread value is written back unchanged and no
/// class is instantiated for it.
final class ObjectValue {
    /// The value, if it has a value type.
    private let plain: Any?
    /// The value, if it is an object. A separate field, so that unique ownership can be checked.
    private var reference: AnyObject?
    /// The bytes that it was read from or saved as, if any.
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

    /// The value for the public API.
    var value: Any { reference ?? plain ?? NSNull() }

    /// Whether the value is an object that only this box references.
    var isHeldOnlyHere: Bool { reference != nil && isKnownUniquelyReferenced(&reference) }
}
