import Foundation
import KeyedArchives

/// Converts between the user info of Core Data's API and the property lists of model files.
internal enum PlainUserInfo {
    /// A dictionary of Foundation values: strings, numbers, dates, data, arrays, dictionaries.
    static func dictionary(_ plain: [String: PropertyListValue]) -> [AnyHashable: Any] {
        Dictionary(plain.map { (AnyHashable($0.key), object($0.value)) }, uniquingKeysWith: { $1 })
    }

    /// The part of a dictionary that a property list can represent. Keys that are not strings are omitted.
    static func plain(_ dictionary: [AnyHashable: Any]?) -> [String: PropertyListValue] {
        var result: [String: PropertyListValue] = [:]
        for (key, value) in dictionary ?? [:] {
            if let key = key as? String { result[key] = plain(value, depth: 0) }
        }
        return result
    }

    /// The maximum nesting depth of user info; deeper values are omitted.
    private static let depthLimit = 64

    private static func object(_ value: PropertyListValue) -> Any {
        switch value {
        case .null: NSNull()
        case .boolean(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .unsignedInteger(let value): NSNumber(value: value)
        case .real(let value): NSNumber(value: value)
        case .date(let value): value
        case .data(let value): value
        case .string(let value): value
        case .uid(let value): NSNumber(value: value)
        case .array(let values), .set(let values): values.map(object)
        case .dictionary(let dictionary): dictionary.contents.mapValues(object)
        }
    }

    private static func plain(_ value: Any, depth: Int) -> PropertyListValue? {
        guard depth < depthLimit else { return nil }
        switch value {
        case let text as String: return .string(text)
        case let number as NSNumber: return plain(number)
        case let flag as Bool: return .boolean(flag)
        case let number as Int: return .integer(Int64(number))
        case let number as Double: return .real(number)
        case let date as Date: return .date(date)
        case let data as Data: return .data(data)
        case let values as [Any]: return .array(values.compactMap { plain($0, depth: depth + 1) })
        case let values as [AnyHashable: Any]:
            let pairs = values.compactMap { key, value in
                (key as? String).flatMap { name in plain(value, depth: depth + 1).map { (name, $0) } }
            }
            return .dictionary(PropertyListDictionary(sorted: Dictionary(pairs, uniquingKeysWith: { $1 })))
        default: return nil
        }
    }

    private static func plain(_ number: NSNumber) -> PropertyListValue {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "B"): .boolean(number.boolValue)
        case UInt8(ascii: "f"), UInt8(ascii: "d"): .real(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }
}
