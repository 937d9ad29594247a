import Foundation
import GraphDocuments

/// One property of a `Mapped` class: what documents call it, and how it is read and written.
public struct MappedProperty {
    /// The property's name.
    public let name: String
    /// What is said of it beside its name, by the rules that attributes of entities have: keys, dates, a transformer, a default
    /// for new objects, whether it is read, written or both.
    public let mapping: PropertyMapping

    /// Reads the property's value from a tree, and has the reading set it.
    let read: (_ object: AnyObject, _ tree: ReadableValue, _ reading: PlainReading, PlainPath) throws -> Void
    /// Whether it holds dates, which documents may write in many ways.
    let isDate: Bool
    /// The property's value.
    let value: (_ object: AnyObject) -> Any

    /// A property of any type that a tree of plain values can become: text, numbers, booleans, dates, data, UUIDs, URLs,
    /// decimals; a class that is `Mapped`; what is `Decodable`, or has a raw value; optionals, arrays, sets and dictionaries
    /// of these. `Any`, and collections of it, keep plain dictionaries and arrays.
    ///
    /// - Parameters:
    ///   - name: The property's name.
    ///   - keyPath: The property.
    ///   - mapping: What documents call it, and how they write it: `PropertyMapping("profile.name", "name")` reads the first
    ///     that is there and writes the first. Nothing for its own name, or what the importer's key strategy makes of that.
    ///   - elements: The class of a collection's elements where its type does not say it, as `[Any]` does not.
    public init<Root: Mapped, Value>(
        _ name: String, _ keyPath: ReferenceWritableKeyPath<Root, Value>,
        mapping: PropertyMapping = PropertyMapping(), elements: (any Mapped.Type)? = nil
    ) {
        self.name = name
        self.mapping = mapping
        isDate = Value.self is any PlainDateHolder.Type
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
                    throw PlainObjectError(.wrongType, "\(Value.self) holds no \(elements).", at: path)
                }
                return reading.assign { root[keyPath: keyPath] = value }
            }
            // Null clears what can be nil; anything else keeps what it has, as it does where nothing is said.
            if tree == .value(.null), !(Value.self is any PlainOptional.Type), Value.self != Any.self {
                guard !reading.options.isStrict else {
                    throw PlainObjectError(.wrongType, "Null stands where \(Value.self) is wanted.", at: path)
                }
                return
            }
            let value = try reading.value(Value.self, from: tree, at: path)
            reading.assign { root[keyPath: keyPath] = value }
        }
    }
}
