import Foundation

/// A value in the form that predicates use: every kind of number, string, date and collection has one representation.
public enum PredicateValue {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    case url(URL)
    /// An array, a set or an ordered set. If one side is unordered, equality ignores the order.
    case collection([PredicateValue], ordered: Bool)
    /// An object with keys.
    case object(any PredicateSubject)
    /// Any other value, which is equal only to itself.
    case other(Any)
}

// MARK: - From and to Swift values

extension PredicateValue {
    /// Converts a value. Constant time, except for collections, whose elements are converted one by one.
    public init(_ value: Any?) {
        guard let value else {
            self = .null
            return
        }
        // The exact types are tried first: comparing types is much cheaper than a cast that fails.
        let type = type(of: value)
        if type == String.self, let value = value as? String {
            self = .string(value)
        } else if type == Int64.self, let value = value as? Int64 {
            self = .integer(value)
        } else if type == Int.self, let value = value as? Int {
            self = .integer(Int64(value))
        } else if type == Double.self, let value = value as? Double {
            self = .double(value)
        } else if type == Bool.self, let value = value as? Bool {
            self = .bool(value)
        } else if type == Date.self, let value = value as? Date {
            self = .date(value)
        } else if type == Decimal.self, let value = value as? Decimal {
            self = .decimal(value)
        } else if type == UUID.self, let value = value as? UUID {
            self = .uuid(value)
        } else if type == Data.self, let value = value as? Data {
            self = .data(value)
        } else if type == URL.self, let value = value as? URL {
            self = .url(value)
        } else if type == PredicateValue.self, let value = value as? PredicateValue {
            self = value
        } else if type == Float.self, let value = value as? Float {
            self = .double(Double(value))
        } else if type == Substring.self, let value = value as? Substring {
            self = .string(String(value))
        } else if type == AnyHashable.self, let value = value as? AnyHashable {
            self = PredicateValue(value.base)
        } else if !(type is AnyClass), let optional = value as? any OptionalValue {
            // Before the casts below, which also succeed for the wrapped value: a text is a collection of characters.
            self = PredicateValue(optional.wrappedValue)
        } else if let value = value as? any PredicateSubject {
            self = .object(value)
        } else if type is AnyClass, let object = value as? NSObject {
            self = PredicateValue(foundation: object)
        } else if let elements = value as? any Collection {
            self = PredicateValue(elements: elements)
        } else if let number = value as? any BinaryInteger {
            self = Int64(exactly: number).map(PredicateValue.integer) ?? .decimal(Decimal(string: "\(number)") ?? .nan)
        } else if let number = value as? any BinaryFloatingPoint {
            self = .double(Double(number))
        } else {
            self = .other(value)
        }
    }

    private init(foundation object: NSObject) {
        switch object {
        case is NSNull: self = .null
        case let decimal as NSDecimalNumber: self = .decimal(decimal.decimalValue)
        case let number as NSNumber: self = PredicateValue(number: number)
        case let string as NSString: self = .string(String(describing: string))
        case let date as NSDate: self = .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate))
        case let data as NSData: self = .data(Data(referencing: data))
        case let uuid as NSUUID: self = UUID(uuidString: uuid.uuidString).map(PredicateValue.uuid) ?? .other(object)
        case let url as NSURL: self = url.absoluteURL.map(PredicateValue.url) ?? .other(object)
        case let array as NSArray: self = .collection(PredicateValue.elements(array), ordered: true)
        case let set as NSOrderedSet: self = .collection(PredicateValue.elements(set), ordered: true)
        case let set as NSSet: self = .collection(PredicateValue.elements(set), ordered: false)
        default: self = .other(object)
        }
    }

    private init(number: NSNumber) {
        if type(of: number) == PredicateValue.truthValueClass {
            self = .bool(number.boolValue)
            return
        }
        // The type code is a C string, which has at least one character.
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): self = .double(number.doubleValue)
        case UInt8(ascii: "Q"): self = PredicateValue(number.uint64Value)
        default: self = .integer(number.int64Value)
        }
    }

    /// The class of boolean `NSNumber`s; their type code is that of a small integer.
    private static let truthValueClass: AnyClass = type(of: NSNumber(value: true))

    private init(elements: some Collection) {
        self = .collection(PredicateValue.elements(elements), ordered: !(elements is any SetAlgebra))
    }

    /// Converts the elements of a collection. The casts that fail for an object of a class without another
    /// representation are made once for consecutive objects of that class, such as the IDs in a list of objects.
    private static func elements(_ values: some Sequence) -> [PredicateValue] {
        var opaque: Any.Type?
        return values.map { value in
            let value = value as Any
            if let opaque, type(of: value) == opaque { return .other(value) }
            let converted = PredicateValue(value)
            // UUIDs and URLs are values without another representation only if they are not valid. An optional may contain an
            // object of another class next time.
            if case .other(let object as NSObject) = converted, !(object is NSUUID), !(object is NSURL),
                type(of: value) is AnyClass
            {
                opaque = type(of: value)
            }
            return converted
        }
    }

    /// The value as a Swift value: `Int64`, `String`, …; an array for an ordered or unordered collection.
    public var value: Any? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .integer(let value): value
        case .double(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .url(let value): value
        case .collection(let elements, _): elements.map(\.value)
        case .object(let value): value
        case .other(let value): value
        }
    }

    /// The value without enclosing optionals, and nil for `NSNull`.
    package static func unwrap(_ value: Any?) -> Any? {
        guard let value else { return nil }
        let type = type(of: value)
        // The most frequent types first: a cast that fails costs more than all of these comparisons.
        if type == String.self || type == Date.self || type == Int.self || type == Int64.self || type == Double.self
            || type == Bool.self || type == UUID.self
        {
            return value
        }
        // A cast of another value to a class would create an object first: of an array, one with all its elements.
        if type is AnyClass || type == AnyHashable.self { return value is NSNull ? nil : value }
        if let optional = value as? any OptionalValue { return unwrap(optional.wrappedValue) }
        return value
    }

    /// True for nil.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// Whether this is a number or a boolean.
    public var isNumber: Bool {
        switch self {
        case .bool, .integer, .double, .decimal: true
        default: false
        }
    }

    /// The kind of the value, for messages.
    public var kind: String {
        switch self {
        case .null: "nil"
        case .bool: "a boolean"
        case .integer, .double, .decimal: "a number"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .collection: "a collection"
        case .object(let object): "an object (\(type(of: object)))"
        case .other(let value): "a \(type(of: value))"
        }
    }
}

/// Detects an optional inside `Any`.
private protocol OptionalValue {
    var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
    var wrappedValue: Any? { map { $0 as Any } }
}
