import Coral
import Foundation
import GraphDocuments

/// A class whose instances can be created and filled from documents, property by property.
///
///     final class Person: Mapped {
///         var name = ""
///         var address: String?
///         var children: [Person] = []
///         init() {}
///
///         class var mappedProperties: [MappedProperty] {
///             [
///                 MappedProperty("name", \Person.name),
///                 MappedProperty("address", \Person.address, mapping: PropertyMapping("kAddress")),
///                 MappedProperty("children", \Person.children),
///             ]
///         }
///     }
///
///     let person = try PlainImporter().make(Person.self, from: json)
///     try PlainImporter().populate(person, from: later)      // properties absent in `later` are not changed
///     let data = try PlainExporter().encoded(person)
///
/// A subclass that adds properties overrides the list with `super.mappedProperties + […]`. Structures do not need this
/// protocol: they can be `Codable`.
public protocol Mapped: AnyObject {
    /// Creates an instance that is filled afterwards.
    init()
    /// The properties in documents, in the order in which they are written.
    static var mappedProperties: [MappedProperty] { get }
}

/// One property of a `Mapped` class: its names in documents, and how it is read and written.
public struct MappedProperty {
    /// The property's name.
    public let name: String
    /// The mapping of the property, with the same rules as for attributes of entities: keys, dates, a transformer, a
    /// default for new objects, whether it is read, written or both.
    public let mapping: PropertyMapping

    /// Reads the property's value from a tree, and registers its assignment with the reading.
    let read: (_ object: AnyObject, _ tree: ReadableValue, _ reading: PlainReading, PlainPath) throws -> Void
    /// Whether it contains dates, which have several formats in documents.
    let isDate: Bool
    /// The property's value.
    let value: (_ object: AnyObject) -> Any

    /// Creates a property of any type that a tree of plain values can represent: text, numbers, booleans, dates, data,
    /// UUIDs, URLs, decimals; a `Mapped` class; a `Decodable` type, or one with a raw value; optionals, arrays, sets
    /// and dictionaries of these. `Any`, and its collections, contain plain dictionaries and arrays.
    ///
    /// - Parameters:
    ///   - name: The property's name.
    ///   - keyPath: The property.
    ///   - mapping: The names in documents and the format: `PropertyMapping("profile.name", "name")` reads the first
    ///     that exists and writes the first. Without names, the property's own name is used, converted by the
    ///     importer's key strategy.
    ///   - elements: The class of a collection's elements if its type does not contain it, as in `[Any]`.
    public init<Root: Mapped, Value>(
        _ name: String, _ keyPath: ReferenceWritableKeyPath<Root, Value>,
        mapping: PropertyMapping = PropertyMapping(), elements: (any Mapped.Type)? = nil
    ) {
        self.name = name
        self.mapping = mapping
        isDate = Value.self is any PlainDateHolder.Type
        let hashesObjects = (Value.self as? any PlainCollection.Type)?.hashesObjects ?? false
        value = { object in (object as? Root)?[keyPath: keyPath] as Any }
        read = { object, tree, reading, path in
            guard let root = object as? Root else {
                throw PlainObjectError(.misuse, "\(type(of: object)) has no property \"\(name)\".", at: path)
            }
            if let present = root[keyPath: keyPath] as? any Mapped, reading.canFill(present, from: tree) {
                return try reading.fill(present, from: tree, at: path)
            }
            if let elements, case .array(let trees) = tree {
                let objects = try trees.enumerated().map { try reading.object(elements, from: $1, at: path + $0) }
                guard let value = objects as? Value ?? (objects as [Any]) as? Value else {
                    throw PlainObjectError(.wrongType, "\(Value.self) does not contain \(elements).", at: path)
                }
                return reading.assign { root[keyPath: keyPath] = value }
            }
            // Null clears an optional property; other properties keep their value, as they do without the key.
            if tree == .value(.null), !(Value.self is any PlainOptional.Type), Value.self != Any.self {
                guard reading.options.mismatchedValues != .fail else {
                    throw PlainObjectError(.wrongType, "Expected \(Value.self), found null.", at: path)
                }
                return
            }
            if hashesObjects {
                let make = try reading.deferred(Value.self, from: tree, at: path)
                return reading.assignDeferred { root[keyPath: keyPath] = make() }
            }
            let value = try reading.value(Value.self, from: tree, at: path)
            reading.assign { root[keyPath: keyPath] = value }
        }
    }
}
