import Foundation
import KeyedArchives

/// Converts between property lists and the objects of Core Data's API: strings, numbers, dates, data, arrays, dictionaries.
///
/// Foundation's own conversion is not used: for each type it searches the conformances of the whole program, and in a program
/// with static libraries it rejects arrays.
extension PropertyListValue {
    /// The value as an object. References become numbers, and sets arrays.
    package var object: Any {
        switch self {
        case .null: NSNull()
        case .boolean(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .unsignedInteger(let value): NSNumber(value: value)
        case .real(let value): NSNumber(value: value)
        case .date(let value): value
        case .data(let value): value
        case .string(let value): value
        case .uid(let value): NSNumber(value: value)
        case .array(let values), .set(let values): values.map(\.object)
        case .dictionary(let dictionary): dictionary.contents.mapValues(\.object)
        }
    }

    /// What is done with objects that a property list cannot represent, and with keys that are not strings.
    package enum OtherObjects {
        case omitted, rejected
    }

    /// The maximum nesting depth of objects.
    private static let depthLimit = 64

    /// An object as a property list, with the keys of dictionaries sorted. Nil for an object that a property list cannot
    /// represent, that is nested too deeply, or that contains another such object if these are rejected.
    package init?(object: Any, others: OtherObjects, depth: Int = 0) {
        guard depth < Self.depthLimit else { return nil }
        switch object {
        case let text as String: self = .string(text)
        case let number as NSNumber: self.init(number)
        case let date as Date: self = .date(date)
        case let data as Data: self = .data(data)
        case let objects as [Any]:
            var values: [PropertyListValue] = []
            for object in objects {
                if let value = PropertyListValue(object: object, others: others, depth: depth + 1) {
                    values.append(value)
                } else if others == .rejected {
                    return nil
                }
            }
            self = .array(values)
        case let objects as [AnyHashable: Any]:
            var values: [String: PropertyListValue] = [:]
            for (key, object) in objects {
                if let key = key as? String,
                    let value = PropertyListValue(object: object, others: others, depth: depth + 1)
                {
                    values[key] = value
                } else if others == .rejected {
                    return nil
                }
            }
            self = .dictionary(PropertyListDictionary(sorted: values))
        default: return nil
        }
    }

    private init(_ number: NSNumber) {
        self =
            switch UInt8(bitPattern: number.objCType.pointee) {
            // On some platforms a boolean has the type of a character; a number never has.
            case UInt8(ascii: "B"), UInt8(ascii: "c"): .boolean(number.boolValue)
            case UInt8(ascii: "f"), UInt8(ascii: "d"): .real(number.doubleValue)
            case UInt8(ascii: "Q"):
                Int64(exactly: number.uint64Value).map { .integer($0) } ?? .unsignedInteger(number.uint64Value)
            default: .integer(number.int64Value)
            }
    }
}
