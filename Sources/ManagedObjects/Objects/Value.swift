import Foundation
import KeyedArchives

/// One value of a managed object in the engine's representation.
///
/// The case depends on the slot's kind (`EntityLayout.Slot.Kind`): integers and Booleans are `integer`, doubles, floats
/// and dates (seconds since 2001) are `real`. Only values of URIs, transformable and undefined attributes are `Any`.
package enum Value {
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

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

/// A value that needs a box: a URI, or the value of a transformable or undefined attribute.
///
/// A transformable keeps the bytes that it was stored as, so that an unread value is written back unchanged and no
/// class is instantiated for it.
package final class ObjectValue {
    /// The value, if it has a value type.
    private let plain: Any?
    /// The value, if it is an object. A separate field, so that unique ownership can be checked.
    private var reference: AnyObject?
    /// The bytes that it was read from or saved as, if any.
    package let encoded: Data?
    /// The type of a property that a value was assigned to and that this value is not of, so that it was kept: see
    /// `refuseReplacement(forKey:by:)`.
    let refusedType: Any.Type?

    package init(_ value: Any, encoded: Data? = nil, refusedType: Any.Type? = nil) {
        self.refusedType = refusedType
        if type(of: value) is AnyClass {
            plain = nil
            reference = value as AnyObject
        } else {
            plain = value
        }
        self.encoded = encoded
    }

    /// The value for the public API.
    package var value: Any { reference ?? plain ?? NSNull() }

    /// Whether the value is an object that only this box references.
    var isHeldOnlyHere: Bool { reference != nil && isKnownUniquelyReferenced(&reference) }
}

// MARK: - Conversion

// Converts between the engine's values and those of key-value coding: `NSNumber`, `String`, `Date`, `Data`, `UUID`,
// `URL`, `NSDecimalNumber`, as in Core Data.

extension EntityLayout.Slot.Kind {
    package init(_ type: NSAttributeType) {
        switch type {
        case .integer16AttributeType: self = .integer16
        case .integer32AttributeType: self = .integer32
        case .integer64AttributeType: self = .integer64
        case .booleanAttributeType: self = .boolean
        case .doubleAttributeType: self = .double
        case .floatAttributeType: self = .float
        case .dateAttributeType: self = .date
        case .decimalAttributeType: self = .decimal
        case .stringAttributeType: self = .string
        case .binaryDataAttributeType: self = .data
        case .UUIDAttributeType: self = .uuid
        case .URIAttributeType: self = .uri
        case .transformableAttributeType: self = .transformable
        default: self = .undefined
        }
    }

    /// The kind of a computed result. A sum may exceed the range of the declared type, in which it would wrap.
    package init(ofResult type: NSAttributeType) {
        self.init(type)
        if self == .integer16 || self == .integer32 { self = .integer64 }
    }

    /// The name of the expected type, for messages.
    package var expectation: String {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .position: "NSNumber"
        case .boolean: "Bool"
        case .date: "Date"
        case .decimal: "NSDecimalNumber"
        case .string: "String"
        case .data: "Data"
        case .uuid: "UUID"
        case .uri: "URL"
        case .transformable, .undefined: "any object"
        case .toOne: "NSManagedObject"
        }
    }
}

/// A value that does not have the type of its attribute.
package struct UnacceptableValue: Error {
    package let expected: String
    package let actual: String

    package init(expected: String, actual: String) {
        self.expected = expected
        self.actual = actual
    }
}

extension Value {
    /// Converts a value from key-value coding.
    ///
    /// - Throws: ``UnacceptableValue`` if Core Data raises "Unacceptable type of value for attribute".
    package init(_ value: Any?, kind: EntityLayout.Slot.Kind) throws {
        guard let value else {
            self = .null
            return
        }
        if let usual = Value(usual: value, kind: kind) {
            self = usual
            return
        }
        guard !(value is NSNull) else {
            self = .null
            return
        }
        switch kind {
        case .integer16, .integer32, .integer64, .position:
            guard let number = Self.integer(value) else { throw Self.unacceptable(value, kind) }
            self = .integer(number)
        case .boolean:
            if let flag = value as? Bool {
                self = .integer(flag ? 1 : 0)
            } else if let number = value as? NSNumber {
                self = .integer(number.boolValue ? 1 : 0)
            } else if let number = Self.real(value) {
                self = .integer(number == 0 ? 0 : 1)
            } else {
                throw Self.unacceptable(value, kind)
            }
        case .double:
            guard let number = Self.real(value) else { throw Self.unacceptable(value, kind) }
            self = .real(number)
        case .float:
            guard let number = Self.real(value) else { throw Self.unacceptable(value, kind) }
            self = .real(Double(Float(number)))
        case .date:
            guard let date = value as? Date else { throw Self.unacceptable(value, kind) }
            self = .real(date.timeIntervalSinceReferenceDate)
        case .decimal:
            if let number = value as? NSDecimalNumber {
                self = .decimal(number.decimalValue)
            } else if let decimal = value as? Decimal {
                self = .decimal(decimal)
            } else if let number = value as? NSNumber {
                self = .decimal(Decimal(number))
            } else if let number = Self.real(value) {
                self = .decimal(Decimal(shortestOf: number))
            } else {
                throw Self.unacceptable(value, kind)
            }
        case .string:
            guard let string = value as? String else { throw Self.unacceptable(value, kind) }
            self = .string(string)
        case .data:
            guard let data = value as? Data else { throw Self.unacceptable(value, kind) }
            self = .data(data)
        case .uuid:
            guard let uuid = value as? UUID else { throw Self.unacceptable(value, kind) }
            self = .uuid(uuid)
        case .uri:
            guard let url = value as? URL else { throw Self.unacceptable(value, kind) }
            self = .object(ObjectValue(url))
        case .transformable, .undefined:
            self = .object(ObjectValue(value))
        case .toOne:
            throw Self.unacceptable(value, kind)
        }
    }

    /// Converts a value of the type that key-value coding returns for the attribute; nil for other types.
    private init?(usual value: Any, kind: EntityLayout.Slot.Kind) {
        switch kind {
        case .integer16, .integer32, .integer64, .position:
            guard let number = exactValue(value, as: NSNumber.self) else { return nil }
            self = .integer(number.int64Value)
        case .double:
            guard let number = exactValue(value, as: NSNumber.self) else { return nil }
            self = .real(number.doubleValue)
        case .float:
            guard let number = exactValue(value, as: NSNumber.self) else { return nil }
            self = .real(Double(Float(number.doubleValue)))
        case .date:
            guard let date = exactValue(value, as: Date.self) else { return nil }
            self = .real(date.timeIntervalSinceReferenceDate)
        case .decimal:
            guard let number = exactValue(value, as: NSDecimalNumber.self) else { return nil }
            self = .decimal(number.decimalValue)
        case .string:
            guard let string = exactValue(value, as: String.self) else { return nil }
            self = .string(string)
        case .data:
            guard let data = exactValue(value, as: Data.self) else { return nil }
            self = .data(data)
        case .uuid:
            guard let uuid = exactValue(value, as: UUID.self) else { return nil }
            self = .uuid(uuid)
        case .boolean, .uri, .transformable, .undefined, .toOne: return nil
        }
    }

    /// The value for key-value coding. A reference is resolved by the context, and nil here.
    package func object(kind: EntityLayout.Slot.Kind) -> Any? {
        switch self {
        case .null, .reference: nil
        case .integer(let number):
            switch kind {
            case .boolean: NSNumber(value: number != 0)
            case .integer16: NSNumber(value: Int16(truncatingIfNeeded: number))
            case .integer32: NSNumber(value: Int32(truncatingIfNeeded: number))
            default: NSNumber(value: number)
            }
        case .real(let number):
            switch kind {
            case .date: Date(timeIntervalSinceReferenceDate: number)
            case .float: NSNumber(value: Float(number))
            default: NSNumber(value: number)
            }
        case .string(let string): string
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .object(let box): box.value
        }
    }

    private static func integer(_ value: Any) -> Int64? {
        switch value {
        case let number as Int: Int64(number)
        case let number as Int64: number
        case let number as Int32: Int64(number)
        case let number as Int16: Int64(number)
        case let number as NSNumber: number.int64Value
        case let number as any BinaryInteger: Int64(exactly: number)
        case let number as any BinaryFloatingPoint: NSNumber(value: Double(number)).int64Value
        default: nil
        }
    }

    private static func real(_ value: Any) -> Double? {
        switch value {
        case let number as Double: number
        case let number as NSNumber: number.doubleValue
        case let number as Float: Double(number)
        case let number as any BinaryInteger: Double(number)
        // `CGFloat`, which is an `NSNumber` on Apple's platforms only.
        case let number as any BinaryFloatingPoint: Double(number)
        default: nil
        }
    }

    private static func unacceptable(_ value: Any, _ kind: EntityLayout.Slot.Kind) -> UnacceptableValue {
        UnacceptableValue(expected: kind.expectation, actual: String(describing: type(of: value)))
    }
}

extension String {
    /// Whether two strings have equal UTF-8.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.withContiguousStorageIfAvailable { other.hasBytes(UnsafeRawBufferPointer($0)) }
            ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the string's UTF-8 equals the bytes.
    func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        utf8.withContiguousStorageIfAvailable { own in
            own.count == bytes.count && UnsafeRawBufferPointer(own).elementsAre(bytes)
        } ?? utf8.elementsEqual(bytes)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the same number of bytes is equal.
    fileprivate func elementsAre(_ other: UnsafeRawBufferPointer) -> Bool {
        guard let own = baseAddress, let other = other.baseAddress else { return true }
        return memcmp(own, other, count) == 0
    }
}

extension Value {
    /// Encoded bytes are compared if both are known: classes may define other values as equal.
    private static func isSame(_ one: ObjectValue, _ two: ObjectValue) -> Bool {
        // A refused assignment is a change, which validation reports.
        guard one.refusedType == nil, two.refusedType == nil else { return false }
        if let one = one.encoded, let two = two.encoded { return TransformableCoding.areSame(one, two) }
        return TransformableEquality.areSame(one.value, two.value)
    }

    /// Whether two values are equal for a store. Determines whether an attribute has changed.
    package func isSame(as other: Value) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.integer(let one), .integer(let two)): one == two
        // Compared by bits, so that a NaN equals itself and -0.0 differs from 0.0, as they are written.
        case (.real(let one), .real(let two)): one.bitPattern == two.bitPattern
        case (.string(let one), .string(let two)):
            // Compared by code units: canonically equivalent texts are stored as different texts.
            one.hasSameBytes(as: two)
        case (.data(let one), .data(let two)): one == two
        case (.uuid(let one), .uuid(let two)): one == two
        case (.decimal(let one), .decimal(let two)): one == two
        case (.reference(let one), .reference(let two)): one == two
        case (.object(let one), .object(let two)):
            one === two || Self.isSame(one, two)
        default: false
        }
    }
}

/// The value of an `Any` if its type is exactly the given one; nil for every other type, subclasses included.
///
/// A conditional cast of an `Any` costs hundreds of instructions, and a failing one a thousand; this costs ten. It is used
/// for the usual types of values before the casts that also accept others.
@inline(__always)
package func exactValue<Type>(_ value: Any, as _: Type.Type = Type.self) -> Type? {
    isExactly(value, Type.self, id: ObjectIdentifier(Type.self)) ? exactly(value, as: Type.self) : nil
}

/// Whether the value of an `Any` is exactly of a type, and in the container itself.
///
/// - Parameter id: That of the type, which a caller may know without looking the type up.
@inlinable
@inline(__always)
package func isExactly<Type>(_ value: Any, _: Type.Type, id: @autoclosure () -> ObjectIdentifier) -> Bool {
    ObjectIdentifier(type(of: value)) == id() && MemoryLayout<Type>.size <= 3 * MemoryLayout<Int>.size
}

/// The value of an `Any` for which `isExactly` is true: for generic code, in which an optional value costs the look-up of its type.
@inlinable
@inline(__always)
package func exactly<Type>(_ value: Any, as _: Type.Type) -> Type {
    // Safe because the type is known, and an existential container stores a value of at most three words itself.
    withUnsafeBytes(of: value) { $0.load(as: Type.self) }
}
