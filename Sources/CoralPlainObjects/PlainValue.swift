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

extension Optional: PlainValue, PlainOptional {
    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self {
        tree == .value(.null) ? nil : .some(try reading.value(Wrapped.self, from: tree, at: path))
    }
}

extension Array: PlainValue {
    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self {
        guard case .array(let values) = tree else { throw reading.wrongType(tree, Self.self, at: path) }
        return try values.enumerated().map { try reading.value(Element.self, from: $1, at: path + $0) }
    }
}

extension Set: PlainValue {
    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self {
        Set(try Array<Element>.make(from: tree, reading, at: path))
    }
}

extension Dictionary: PlainValue {
    static func make(from tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) throws -> Self {
        if Key.self != String.self, Key.self != Int.self, case .array(let values) = tree {
            return try make(fromPairs: values, tree, reading, at: path)
        }
        guard case .dictionary(let members) = tree else { throw reading.wrongType(tree, Self.self, at: path) }
        var result = Self(minimumCapacity: members.count)
        for member in members {
            let name = TreeDocument.unescapedKey(member.name)
            let key = try reading.value(Key.self, from: .value(.string(name)), at: path + name)
            result[key] = try reading.value(Value.self, from: member.value, at: path + name)
        }
        return result
    }

    /// `Dictionary.encode(to:)` writes keys that are neither text nor integers in an array, each before its value.
    private static func make(
        fromPairs values: [ReadableValue], _ tree: ReadableValue, _ reading: PlainReading, at path: PlainPath
    ) throws -> Self {
        guard values.count.isMultiple(of: 2) else { throw reading.wrongType(tree, Self.self, at: path) }
        var result = Self(minimumCapacity: values.count / 2)
        for index in stride(from: 0, to: values.count, by: 2) {
            let key = try reading.value(Key.self, from: values[index], at: path + index)
            result[key] = try reading.value(Value.self, from: values[index + 1], at: path + (index + 1))
        }
        return result
    }
}
