import Coral
import Foundation
import GraphDocuments

/// A type that can be created directly from a tree of plain values.
protocol PlainValue {
    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self
}

/// Dates, and collections of them.
protocol PlainDateHolder {}

extension Date: PlainDateHolder {}
extension Optional: PlainDateHolder where Wrapped: PlainDateHolder {}
extension Array: PlainDateHolder where Element: PlainDateHolder {}
extension Set: PlainDateHolder where Element: PlainDateHolder {}

/// A type that can be null.
protocol PlainOptional {}

extension PlainValue where Self: BinaryInteger {
    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self {
        // A number that does not fit a signed 64-bit integer is read as a decimal.
        let text: String? =
            switch tree {
            case .value(.decimal(let number)): number.description
            // Decimals in JSON are text.
            case .value(.string(let text)): text
            default: nil
            }
        if reading.options.mismatchedValues != .fail || Self.self == UInt64.self || Self.self == UInt.self,
            let value = text.flatMap({ UInt64($0) }).flatMap(Self.init(exactly:))
        {
            return value
        }
        if case .integer(let number) = try reading.scalar(tree, as: .integer64, for: Self.self, at: path),
            let value = Self(exactly: number)
        {
            return value
        }
        throw reading.wrongType(tree, Self.self, at: path)
    }
}

extension Int: PlainValue {}
extension Int8: PlainValue {}
extension Int16: PlainValue {}
extension Int32: PlainValue {}
extension Int64: PlainValue {}
extension UInt: PlainValue {}
extension UInt8: PlainValue {}
extension UInt16: PlainValue {}
extension UInt32: PlainValue {}
extension UInt64: PlainValue {}

/// A type that is the value of one type of attribute.
private protocol ScalarValue: PlainValue {
    static var type: GraphValueType { get }
    init?(scalar: GraphValue)
}

extension ScalarValue {
    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self {
        guard let value = Self(scalar: try reading.scalar(tree, as: type, for: Self.self, at: path)) else {
            throw reading.wrongType(tree, Self.self, at: path)
        }
        return value
    }
}

extension Bool: ScalarValue {
    fileprivate static var type: GraphValueType { .boolean }
    fileprivate init?(scalar: GraphValue) {
        guard case .bool(let value) = scalar else { return nil }
        self = value
    }
}

extension Double: ScalarValue {
    fileprivate static var type: GraphValueType { .double }
    fileprivate init?(scalar: GraphValue) {
        guard case .double(let value) = scalar else { return nil }
        self = value
    }
}

extension Float: ScalarValue {
    fileprivate static var type: GraphValueType { .float }
    fileprivate init?(scalar: GraphValue) {
        guard case .float(let value) = scalar else { return nil }
        self = value
    }
}

extension Decimal: ScalarValue {
    fileprivate static var type: GraphValueType { .decimal }
    fileprivate init?(scalar: GraphValue) {
        guard case .decimal(let value) = scalar else { return nil }
        self = value
    }
}

extension String: ScalarValue {
    fileprivate static var type: GraphValueType { .string }
    fileprivate init?(scalar: GraphValue) {
        guard case .string(let value) = scalar else { return nil }
        self = value
    }
}

extension Date: ScalarValue {
    fileprivate static var type: GraphValueType { .date }
    fileprivate init?(scalar: GraphValue) {
        guard case .date(let value) = scalar else { return nil }
        self.init(timeIntervalSinceReferenceDate: value)
    }
}

extension Data: ScalarValue {
    fileprivate static var type: GraphValueType { .binaryData }
    fileprivate init?(scalar: GraphValue) {
        guard case .data(let value) = scalar else { return nil }
        self = value
    }
}

extension UUID: ScalarValue {
    fileprivate static var type: GraphValueType { .uuid }
    fileprivate init?(scalar: GraphValue) {
        guard case .uuid(let value) = scalar else { return nil }
        self = value
    }
}

extension URL: ScalarValue {
    fileprivate static var type: GraphValueType { .uri }
    fileprivate init?(scalar: GraphValue) {
        guard case .uri(let text) = scalar, let url = URL(string: text) else { return nil }
        self = url
    }
}

// MARK: - Collections

/// A collection, which may hash `Mapped` objects: their hashes are known only when their properties are assigned.
protocol PlainCollection: PlainValue {
    /// Whether it contains `Mapped` objects, itself or in other collections.
    static var containsObjects: Bool { get }
    /// Whether it hashes objects, itself or in other collections.
    static var hashesObjects: Bool { get }
    /// Reads the elements, and returns a function that makes the collection after the objects' properties are assigned.
    static func deferred(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> () -> Self
}

extension PlainCollection {
    fileprivate static func containsObjects(_ type: Any.Type) -> Bool {
        type is any Mapped.Type || (type as? any PlainCollection.Type)?.containsObjects ?? false
    }

    fileprivate static func hashesObjects(_ type: Any.Type) -> Bool {
        (type as? any PlainCollection.Type)?.hashesObjects ?? false
    }
}

extension Optional: PlainValue, PlainCollection, PlainOptional {
    static var containsObjects: Bool { containsObjects(Wrapped.self) }
    static var hashesObjects: Bool { hashesObjects(Wrapped.self) }

    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self {
        tree == .value(.null) ? nil : .some(try reading.value(Wrapped.self, from: tree, at: path))
    }

    static func deferred(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> () -> Self {
        if tree == .value(.null) { return { nil } }
        let wrapped = try reading.deferred(Wrapped.self, from: tree, at: path)
        return { .some(wrapped()) }
    }
}

extension Array: PlainValue, PlainCollection {
    static var containsObjects: Bool { containsObjects(Element.self) }
    static var hashesObjects: Bool { hashesObjects(Element.self) }

    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self {
        guard case .array(let values) = tree else { throw reading.wrongType(tree, Self.self, at: path) }
        return try values.enumerated().map { try reading.value(Element.self, from: $1, at: path + $0) }
    }

    static func deferred(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> () -> Self {
        guard case .array(let values) = tree else { throw reading.wrongType(tree, Self.self, at: path) }
        let elements = try values.enumerated().map { try reading.deferred(Element.self, from: $1, at: path + $0) }
        return { elements.map { $0() } }
    }
}

extension Set: PlainValue, PlainCollection {
    static var containsObjects: Bool { containsObjects(Element.self) }
    static var hashesObjects: Bool { containsObjects }

    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self {
        Set(try Array<Element>.make(from: tree, reading, at: path))
    }

    static func deferred(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> () -> Self {
        let elements = try Array<Element>.deferred(from: tree, reading, at: path)
        return { Set(elements()) }
    }
}

extension Dictionary: PlainValue, PlainCollection {
    static var containsObjects: Bool { containsObjects(Key.self) || containsObjects(Value.self) }
    static var hashesObjects: Bool { containsObjects(Key.self) || hashesObjects(Value.self) }

    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self {
        var result = Self()
        try forEachEntry(of: tree, reading, at: path) { key, keyPath, value, valuePath in
            let key = try reading.value(Key.self, from: key, at: keyPath)
            result[key] = try reading.value(Value.self, from: value, at: valuePath)
        }
        return result
    }

    static func deferred(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> () -> Self {
        var entries: [(key: () -> Key, value: () -> Value)] = []
        try forEachEntry(of: tree, reading, at: path) { key, keyPath, value, valuePath in
            let key = try reading.deferred(Key.self, from: key, at: keyPath)
            entries.append((key, try reading.deferred(Value.self, from: value, at: valuePath)))
        }
        return { [entries] in Self(entries.map { ($0.key(), $0.value()) }, uniquingKeysWith: { $1 }) }
    }

    /// `Dictionary.encode(to:)` writes keys that are neither text nor integers in an array, each before its value.
    private static func forEachEntry(
        of tree: ReadableValue, _ reading: PlainReading, at path: PlainPath,
        _ body: (ReadableValue, PlainPath, ReadableValue, PlainPath) throws -> Void
    ) throws {
        if Key.self != String.self, Key.self != Int.self, case .array(let values) = tree {
            guard values.count.isMultiple(of: 2) else { throw reading.wrongType(tree, Self.self, at: path) }
            for index in stride(from: 0, to: values.count, by: 2) {
                try body(values[index], path + index, values[index + 1], path + (index + 1))
            }
            return
        }
        guard case .dictionary(let members) = tree else { throw reading.wrongType(tree, Self.self, at: path) }
        for member in members {
            let name = TreeDocument.unescapedKey(member.name)
            try body(.value(.string(name)), path + name, member.value, path + name)
        }
    }
}
