import Coral
import Foundation
import GraphDocuments

/// One reading of plain objects from a tree: the conversions, and the objects read so far.
final class PlainReading {
    let options: PlainImportOptions
    private let conversion: ValueConversion
    private let dates: PlainDates?
    /// The mappings of classes used so far.
    private var mappings: [ObjectIdentifier: [PlainPropertyMapping]] = [:]
    /// Objects in the document, by their `$id`.
    private var objects: [String: AnyObject] = [:]
    /// Assignments that are made after the whole document was read without an error.
    private var assignments: [() -> Void] = []
    /// Those of collections that hash objects, which follow the others.
    private var deferredAssignments: [() -> Void] = []

    init(_ options: PlainImportOptions) {
        self.options = options
        conversion = options.conversion
        dates = options.dates.map(PlainDates.init)
    }

    // MARK: - Values

    /// A value of a type from a tree. Throws `PlainObjectError`, and the errors of a type's own decoding.
    func value<Value>(_ type: Value.Type, from tree: ReadableValue, at path: PlainPath) throws -> Value {
        let made: Any
        if let plain = type as? any PlainValue.Type {
            made = try plain.make(from: tree, self, at: path)
        } else if let mapped = type as? any Mapped.Type {
            made = try object(mapped, from: tree, at: path)
        } else if let decodable = type as? any Decodable.Type {
            made = try decodable.init(from: PlainDecoder(tree, self, at: path))
        } else if let raw = type as? any RawRepresentable.Type {
            made = try self.raw(raw, from: tree, at: path)
        } else {
            made = TreeDocument.foundationObject(tree.unescapingKeys, style: .native)
        }
        guard let value = made as? Value else {
            throw PlainObjectError(.wrongType, "The value is not a valid \(type).", at: path)
        }
        return value
    }

    /// Reads a value, and returns a function that returns it. A collection that hashes objects is made by the function, which
    /// is called after the objects' properties are assigned. Throws as `value` does.
    func deferred<Value>(_ type: Value.Type, from tree: ReadableValue, at path: PlainPath) throws -> () -> Value {
        guard let collection = type as? any PlainCollection.Type, collection.hashesObjects else {
            let value = try value(type, from: tree, at: path)
            return { value }
        }
        func read<Collection: PlainCollection>(_ type: Collection.Type) throws -> Any {
            try type.deferred(from: tree, self, at: path) as () -> Collection
        }
        guard let make = try read(collection) as? () -> Value else { throw wrongType(tree, type, at: path) }
        return make
    }

    private func raw<Raw: RawRepresentable>(
        _ type: Raw.Type, from tree: ReadableValue, at path: PlainPath
    ) throws -> Raw {
        let value = try value(Raw.RawValue.self, from: tree, at: path)
        guard let made = Raw(rawValue: value) else {
            throw PlainObjectError(.wrongType, "\(value) is not a valid \(type).", at: path)
        }
        return made
    }

    /// A scalar of a type, converted if that is lossless; never null.
    func scalar(
        _ tree: ReadableValue, as type: GraphValueType, for wanted: Any.Type, at path: PlainPath
    ) throws -> GraphValue {
        if type == .date, let dates, case .value(let value) = tree, let date = dates.read(value) { return date }
        if case .value(.string(let text)) = tree, let value = GraphValue(documentText: text, as: type) { return value }
        if case .value(let value) = tree, !value.isNull,
            let converted = conversion.convert(value, to: GraphSchema.Attribute(name: "", type: type))
        {
            return converted
        }
        throw wrongType(tree, wanted, at: path)
    }

    /// The error for a tree of an unexpected kind.
    func wrongType(_ tree: ReadableValue, _ wanted: Any.Type, at path: PlainPath) -> PlainObjectError {
        let found =
            switch tree {
            case .array: "An array"
            case .dictionary: "An object"
            case .value(.null): "Null"
            case .value(let value): ValueText.text(value)
            }
        return PlainObjectError(.wrongType, "\(found) was found where \(wanted) is expected.", at: path)
    }

    // MARK: - Objects

    /// Sets a property at the end of the reading, so that an error leaves objects unchanged.
    func assign(_ assignment: @escaping () -> Void) { assignments.append(assignment) }

    /// Sets a property to a collection that hashes objects, after all other properties are set.
    func assignDeferred(_ assignment: @escaping () -> Void) { deferredAssignments.append(assignment) }

    /// Makes all assignments.
    func finish() {
        for assignment in assignments + deferredAssignments { assignment() }
        (assignments, deferredAssignments) = ([], [])
    }

    /// Creates an instance of a class, or returns the one to which a reference refers.
    func object(_ type: any Mapped.Type, from tree: ReadableValue, at path: PlainPath) throws -> any Mapped {
        if let reference = tree.member(PlainMember.reference)?.text {
            guard let object = objects[reference] as? any Mapped else {
                throw PlainObjectError(
                    .unknownReference, "No preceding object has the id \"\(reference)\".", at: path)
            }
            return object
        }
        guard case .dictionary = tree else { throw wrongType(tree, type, at: path) }
        let object = type.init()
        try fill(object, from: tree, isNew: true, at: path)
        return object
    }

    /// Whether an existing object can be filled from the tree, instead of creating one.
    func canFill(_ object: any Mapped, from tree: ReadableValue) -> Bool {
        guard case .dictionary = tree else { return false }
        return tree.member(PlainMember.reference) == nil
    }

    /// Sets those of an object's properties that the tree contains.
    func fill(_ object: any Mapped, from tree: ReadableValue, isNew: Bool = false, at path: PlainPath) throws {
        guard case .dictionary(let members) = tree else { throw wrongType(tree, type(of: object), at: path) }
        if let id = tree.member(PlainMember.id)?.text { objects[id] = object }
        let properties = type(of: object).mappedProperties
        let mappings = try mappings(of: type(of: object), properties)
        if options.unknownKeys == .fail {
            let known = Set(mappings.flatMap(\.firstMembers))
            for member in members where member.name != PlainMember.id && !known.contains(member.name) {
                let question = NameSuggestion.question(for: member.name, in: known)
                throw PlainObjectError(
                    .unknownKey, "\(type(of: object)) has no property for the key \"\(member.name)\".\(question)",
                    at: path + member.name)
            }
        }
        for (property, mapping) in zip(properties, mappings) where mapping.isRead {
            guard let (value, key) = try mapping.value(in: tree, isNew: isNew) else { continue }
            try property.read(object, property.isDate ? mapping.readingDates(value) : value, self, path + key)
        }
    }

    private func mappings(
        of type: any Mapped.Type, _ properties: [MappedProperty]
    ) throws -> [PlainPropertyMapping] {
        if let known = mappings[ObjectIdentifier(type)] { return known }
        let made = try properties.map { property in
            try PlainPropertyMapping(
                property.mapping, of: property.name, in: "\(type)", keys: options.keys, dates: options.dates,
                transformers: options.transformers)
        }
        mappings[ObjectIdentifier(type)] = made
        return made
    }
}

/// The members that identify shared objects.
enum PlainMember {
    static let id = "$id"
    static let reference = "$ref"
}

extension ReadableValue {
    /// The text of a scalar that is an identifier.
    var text: String? {
        switch self {
        case .value(.string(let text)): text
        case .value(.integer(let number)): String(number)
        default: nil
        }
    }

    /// The tree with its keys unescaped.
    var unescapingKeys: ReadableValue {
        switch self {
        case .value: self
        case .array(let values): .array(values.map(\.unescapingKeys))
        case .dictionary(let members):
            .dictionary(
                members.map { Member(name: TreeDocument.unescapedKey($0.name), value: $0.value.unescapingKeys) })
        }
    }
}
