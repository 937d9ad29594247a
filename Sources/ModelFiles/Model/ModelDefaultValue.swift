import Foundation
import KeyedArchives
import PredicateLanguage

/// Converts between the default values of Core Data's API and the plain values of model files.
package enum ModelDefaultValue {
    /// The value as a new object gets it; nil if the file contains an object of a class that is not instantiated.
    package static func object(_ value: ModelValue, type: ModelAttributeType) -> Any? {
        switch value {
        case .integer(let number): type == .boolean ? NSNumber(value: number != 0) : NSNumber(value: number)
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .double(let number): type == .float ? NSNumber(value: Float(number)) : NSNumber(value: number)
        case .string(let text): text
        case .boolean(let flag): NSNumber(value: flag)
        case .date(let date): date
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text)
        case .archived(let value): object(value)
        }
    }

    /// The plain value of a default; nil if it does not fit the type.
    package static func plain(_ value: Any, type: ModelAttributeType) -> ModelValue? {
        switch type {
        case .integer16, .integer32, .integer64: (value as? NSNumber).map { .integer($0.int64Value) }
        case .boolean: (value as? NSNumber).map { .boolean($0.boolValue) } ?? (value as? Bool).map { .boolean($0) }
        case .double, .float:
            (value as? NSNumber).map { .double($0.doubleValue) } ?? (value as? Double).map { .double($0) }
        case .decimal: decimal(value).map { .decimal($0) }
        case .string: (value as? String).map { .string($0) }
        case .date: (value as? Date).map { .date($0) }
        case .binaryData: (value as? Data).map { .data($0) }
        case .uuid: (value as? UUID).map { .uuid($0) }
        case .uri: (value as? URL).map { .uri($0.absoluteString) }
        case .undefined, .transformable, .objectID, .composite: readable(value).map { .archived($0) }
        }
    }

    private static func decimal(_ value: Any) -> Decimal? {
        (value as? Decimal) ?? (value as? NSNumber).map { Decimal($0) }
    }

    /// Archives the value and reads the archive back as plain values.
    private static func readable(_ value: Any) -> ReadableValue? {
        let data = try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
        return data.flatMap { try? ReadableValue(archive: $0) }
    }

    /// The objects of a tree of plain values. Recursive to the tree's depth, which its reader has limited.
    private static func object(_ value: ReadableValue) -> Any? {
        switch value {
        case .null: nil
        case .boolean(let flag): NSNumber(value: flag)
        case .integer(let number): NSNumber(value: number)
        case .unsignedInteger(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .string(let text): text
        case .data(let data): data
        case .date(let date): date
        case .uuid(let uuid): uuid
        case .url(let text): URL(string: text)
        case .array(let values): values.map { object($0) ?? NSNull() }
        case .set(let values): NSSet(array: values.compactMap(object))
        case .orderedSet(let values): NSOrderedSet(array: values.compactMap(object))
        case .dictionary(let pairs): dictionary(pairs)
        case .object, .ancestor: nil
        }
    }

    private static func dictionary(_ pairs: [ReadableValue.Pair]) -> [AnyHashable: Any] {
        var dictionary: [AnyHashable: Any] = [:]
        for pair in pairs {
            if let key = object(pair.key) as? AnyHashable { dictionary[key] = object(pair.value) ?? NSNull() }
        }
        return dictionary
    }
}
