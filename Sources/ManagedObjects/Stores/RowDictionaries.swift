import Foundation

/// The results of a query for dictionaries, made from the values of one row after the other.
struct RowDictionaries {
    private(set) var dictionaries: [NSDictionary] = []
    private let names: [NSString]
    // With Foundation's objects as keys and values: setting them one by one casts and boxes each, which takes more than twice the time.
    private var keys: [NSObject] = []
    private var objects: [AnyObject] = []

    init(of query: ValueQuery) {
        names = query.columns.map { NSString(string: $0.name) }
    }

    /// Sets the value of a column in the row that ``endRow()`` ends.
    mutating func set(_ object: AnyObject, column: Int) {
        keys.append(names[column])
        objects.append(object)
    }

    mutating func endRow() {
        dictionaries.append(NSMutableDictionary(objects: objects, forKeys: keys, count: objects.count))
        keys.removeAll(keepingCapacity: true)
        objects.removeAll(keepingCapacity: true)
    }

    /// Adds the dictionary of a row whose values have the types of key-value coding.
    mutating func append(_ values: [Any?]) {
        for (column, value) in values.enumerated() {
            if let value { set(Self.object(of: value), column: column) }
        }
        endRow()
    }

    /// The object in which Foundation keeps a value of a dictionary.
    static func object(of value: Any) -> AnyObject {
        if let text = value as? String { return NSString(string: text) }
        return (value as? NSNumber) ?? (value as AnyObject)
    }
}
