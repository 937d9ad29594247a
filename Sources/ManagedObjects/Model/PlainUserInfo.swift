import KeyedArchives

/// Converts between the user info of Core Data's API and the property lists of model files.
internal enum PlainUserInfo {
    /// A dictionary of Foundation values: strings, numbers, dates, data, arrays, dictionaries.
    static func dictionary(_ plain: [String: PropertyListValue]) -> [AnyHashable: Any] {
        Dictionary(plain.map { (AnyHashable($0.key), $0.value.object) }, uniquingKeysWith: { $1 })
    }

    /// The part of a dictionary that a property list can represent. Keys that are not strings are omitted.
    static func plain(_ dictionary: [AnyHashable: Any]?) -> [String: PropertyListValue] {
        var result: [String: PropertyListValue] = [:]
        for (key, value) in dictionary ?? [:] {
            if let key = key as? String { result[key] = PropertyListValue(object: value, others: .omitted) }
        }
        return result
    }
}
