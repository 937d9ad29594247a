import CoreData
import Foundation
import ManagedObjects

/// A value that cannot be converted to its form in the store, or back.
struct ValueMistake: Error, CustomStringConvertible {
    let description: String
}

extension ModelObject {
    /// Sets an attribute to the stored form of a value.
    ///
    /// - Throws: `ValueMistake` if it does not have the type of the attribute.
    func setAttribute(_ stored: Any?, of property: ModelProperty) throws {
        checkQueue()
        guard let field = field(of: property.name) else { return setValue(stored, forKey: property.name) }
        do {
            try setPublicValue(stored, at: field, primitive: false)
        } catch let error as UnacceptableValue {
            throw ValueMistake(description: "\(error.expected) was expected, \(error.actual) was given.")
        }
    }
}

extension ValueForm {
    /// The value as key-value coding of a managed object takes it.
    ///
    /// - Parameter name: The name of the property, which the only element of an enumeration with raw values repeats.
    func stored(_ value: Any, named name: String) throws -> Any {
        switch self {
        case .primitive, .transformed: return value
        case .widened: return try Self.widen(value)
        case .rawEnumeration(_, let raw):
            guard let value = value as? any RawRepresentable else { throw mistake(value) }
            return [name: try raw.stored(value.rawValue, named: name)]
        case .enumeration(let type, let cases): return try Self.storedCase(value, of: type, cases)
        case .structure:
            guard let encodable = value as? any Encodable else { throw mistake(value) }
            return try ElementEncoder.elements(of: encodable, form: self)
        case .archive:
            guard let collection = value as? any ArchivedCollection else { throw mistake(value) }
            return collection.archived
        case .json:
            guard let encodable = value as? any Encodable else { throw mistake(value) }
            return try StoredJSON.data(of: encodable)
        }
    }

    /// The value of a type from what a managed object has.
    func value(of stored: Any, as type: any Any.Type) throws -> Any {
        switch self {
        case .transformed: return stored
        case .primitive:
            func plain<T>(_: T.Type) -> Any? { PlainObject.value(stored, as: T.self) ?? (stored as? T) }
            guard let value = _openExistential(type, do: plain) else { throw mistake(stored) }
            return value
        case .widened(let integer, _):
            guard let number = stored as? NSNumber else { throw mistake(stored) }
            func narrow<I: FixedWidthInteger>(_: I.Type) -> Any? {
                isStoredByBits ? I(truncatingIfNeeded: number.int64Value) : I(exactly: number.int64Value)
            }
            guard let value = narrow(integer) else {
                throw ValueMistake(description: "\(number) is not a value of the type \(integer).")
            }
            return value
        case .rawEnumeration(let enumeration, let raw):
            let stored = (stored as? [String: Any])?.first?.value ?? stored
            func made<R: RawRepresentable>(_: R.Type) throws -> Any? {
                let value = try raw.value(of: stored, as: R.RawValue.self)
                return (value as? R.RawValue).flatMap { R(rawValue: $0) }
            }
            guard let value = try made(enumeration) else { throw mistake(stored) }
            return value
        case .enumeration(let type, let cases): return try Self.value(ofCase: stored, of: type, cases)
        case .structure(let type, _):
            guard let decodable = type as? any Decodable.Type, let elements = stored as? [String: Any] else {
                throw mistake(stored)
            }
            return try ElementDecoder.value(of: elements, as: decodable, form: self)
        case .archive(let type):
            guard let collection = type as? any ArchivedCollection.Type, let value = collection.init(archived: stored)
            else {
                throw mistake(stored)
            }
            return value
        case .json:
            guard let decodable = type as? any Decodable.Type, let data = stored as? Data else { throw mistake(stored) }
            return try StoredJSON.value(of: data, as: decodable)
        }
    }

    private static func widen(_ value: Any) throws -> Any {
        guard let integer = value as? any FixedWidthInteger else {
            throw ValueMistake(description: "\(value) is not an integer.")
        }
        return NSNumber(value: Int64(truncatingIfNeeded: integer))
    }

    private func mistake(_ value: Any) -> ValueMistake {
        ValueMistake(description: "A value of the type \(Swift.type(of: value)) does not have the expected form.")
    }

    // MARK: - Enumerations without raw values

    // Encoding follows the synthesised conformance to Codable: an object with the name of the case, and its payload.

    private static func storedCase(_ value: Any, of type: any Any.Type, _ cases: [EnumerationCase]) throws -> [String:
        Any]
    {
        guard let encodable = value as? any Encodable,
            let (name, payload) = try StoredJSON.onlyMember(of: encodable),
            let found = cases.first(where: { $0.name == name })
        else {
            throw ValueMistake(description: "\(type) must use the Codable conformance that the compiler writes.")
        }
        return [name: found.hasPayload ? payload : name]
    }

    private static func value(ofCase stored: Any, of type: any Any.Type, _ cases: [EnumerationCase]) throws -> Any {
        guard let elements = stored as? [String: Any], let (name, payload) = elements.first, elements.count == 1,
            let decodable = type as? any Decodable.Type
        else { throw ValueMistake(description: "The columns of \(type) do not have exactly one value.") }
        var json = Data("{\"\(name)\":".utf8)
        json += (payload as? Data) ?? Data("{}".utf8)
        json += Data("}".utf8)
        return try StoredJSON.value(of: json, as: decodable)
    }
}
