import Foundation

/// A property list as plain values, including UIDs.
///
/// `PropertyListSerialization` represents a keyed archive's references as an opaque type; here they are ``uid(_:)``. No
/// class is instantiated.
public enum PropertyListValue: Sendable, Hashable {
    /// The null object of the binary format. Apple's tools do not write it.
    case null
    case boolean(Bool)
    case integer(Int64)
    /// An integer above `Int64.max`.
    case unsignedInteger(UInt64)
    case real(Double)
    case date(Date)
    case data(Data)
    case string(String)
    /// A reference into the object table of a keyed archive.
    case uid(Int)
    case array([PropertyListValue])
    /// A set, which only the binary format has. The order is the file's; two sets with the same members in different
    /// orders are not equal.
    case set([PropertyListValue])
    case dictionary(PropertyListDictionary)
}

extension PropertyListValue {
    /// The string, if this is one.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The integer, if this is one that fits, or a boolean (old tools write 0 and 1 for it).
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .unsignedInteger(let value): Int64(exactly: value)
        case .boolean(let value): value ? 1 : 0
        default: nil
        }
    }

    /// The boolean, if this is one, or an integer 0 or 1.
    public var boolean: Bool? {
        switch self {
        case .boolean(let value): value
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }

    /// The number, if this is a real or an integer.
    public var real: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(value)
        case .unsignedInteger(let value): Double(value)
        default: nil
        }
    }

    /// The bytes, if this is data.
    public var data: Data? {
        if case .data(let value) = self { value } else { nil }
    }

    /// The date, if this is one.
    public var date: Date? {
        if case .date(let value) = self { value } else { nil }
    }

    /// The reference, if this is one.
    public var uid: Int? {
        if case .uid(let value) = self { value } else { nil }
    }

    /// The elements of an array or the members of a set.
    public var elements: [PropertyListValue]? {
        switch self {
        case .array(let values), .set(let values): values
        default: nil
        }
    }

    /// The dictionary, if this is one.
    public var dictionary: PropertyListDictionary? {
        if case .dictionary(let value) = self { value } else { nil }
    }

    /// The value of a key, if this is a dictionary that has it.
    public subscript(key: String) -> PropertyListValue? {
        dictionary?[key]
    }
}

extension PropertyListValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(arrayLiteral elements: PropertyListValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, PropertyListValue)...) {
        self = .dictionary(PropertyListDictionary(elements))
    }
}
