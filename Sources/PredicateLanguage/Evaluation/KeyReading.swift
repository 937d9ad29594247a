import Foundation

/// Reads keys and key paths of values, as key-value coding does.
package enum KeyReading {
    /// The value at the end of a path. If a value along the path is a collection, the next key is read of each
    /// element and the results are collected into one flat collection.
    package static func value(of root: PredicateValue, at keys: ArraySlice<String>) throws -> PredicateValue {
        var value = root
        var keys = keys
        while let key = keys.popFirst() {
            if !key.hasPrefix("@") {
                value = try self.value(of: value, forKey: key)
            } else if key == "@count" {
                value = try count(of: value)
            } else {
                return try collectionOperator(key, of: value, at: keys)
            }
        }
        return value
    }

    /// The maximum number of values of a key path. The number is multiplied at each to-many relationship on the path.
    private static let valueLimit = 2_000_000

    private static var tooManyValues: PredicateEvaluationError {
        PredicateEvaluationError(
            .tooLarge,
            "The key path passes so many to-many relationships that it has more than \(valueLimit) values.")
    }

    /// Whether a key is that of the value itself.
    static func isItself(_ key: String) -> Bool { key == "self" || key == "SELF" }

    /// The value of one key.
    static func value(of value: PredicateValue, forKey key: String) throws -> PredicateValue {
        switch value {
        case .object(let subject) where !isItself(key):
            return try subject.comparableValue(forKey: key)
        case .null: return .null
        case .collection(let elements, let ordered) where !isItself(key):
            var values: [PredicateValue] = []
            values.reserveCapacity(elements.count)
            for element in elements {
                switch try self.value(of: element, forKey: key) {
                case .collection(let inner, _): values += inner
                case let value: values.append(value)
                }
                guard values.count <= valueLimit else { throw tooManyValues }
            }
            return .collection(values, ordered: ordered)
        default:
            if isItself(key) { return value }
            if let property = try BuiltInProperty.value(of: value, forKey: key) { return property }
            throw PredicateEvaluationError(.unknownKey, "There is no key “\(key)” in \(value.kind).")
        }
    }

    /// The elements of a collection; none for nil.
    static func elements(of value: PredicateValue, for operation: String) throws -> [PredicateValue] {
        switch value {
        case .collection(let elements, _): return elements
        case .null: return []
        default:
            throw PredicateEvaluationError(.typeMismatch, "\(operation) needs a collection, found \(value.kind).")
        }
    }

    /// The number of elements; 0 for nil.
    static func count(of value: PredicateValue) throws -> PredicateValue {
        if case .object(let subject) = value, let dictionary = subject as? any Collection {
            return .integer(Int64(dictionary.count))
        }
        return .integer(Int64(try elements(of: value, for: "@count").count))
    }

    private static func collectionOperator(
        _ name: String, of value: PredicateValue, at keys: ArraySlice<String>
    ) throws -> PredicateValue {
        let elements = try elements(of: value, for: name)
        var values: [PredicateValue] = []
        for element in elements {
            switch try self.value(of: element, at: keys) {
            case .collection(let inner, _): values += inner
            case let value: values.append(value)
            }
            guard values.count <= valueLimit else { throw tooManyValues }
        }
        switch name {
        case "@sum": return try Statistics.sum(values)
        case "@avg": return try Statistics.average(values)
        case "@min": return try Statistics.minimum(values)
        case "@max": return try Statistics.maximum(values)
        case "@unionOfObjects", "@unionOfArrays", "@unionOfSets": return .collection(values, ordered: true)
        case "@distinctUnionOfObjects", "@distinctUnionOfArrays":
            return .collection(Statistics.distinct(values), ordered: true)
        case "@distinctUnionOfSets": return .collection(Statistics.distinct(values), ordered: false)
        case "@firstObject": return values.first ?? .null
        case "@lastObject": return values.last ?? .null
        default:
            throw PredicateEvaluationError(.unknownKey, "There is no collection operator \(name).")
        }
    }
}
