import CoreData
import Foundation

/// The form in which the values of a Swift type are stored.
indirect enum ValueForm {
    /// A value of one of Core Data's own attribute types.
    case primitive(NSAttributeType)
    /// An integer that Core Data does not have, as a wider one.
    case widened(any FixedWidthInteger.Type, NSAttributeType)
    /// An enumeration with raw values: a composite with one element of its own name.
    case rawEnumeration(any RawRepresentable.Type, raw: ValueForm)
    /// Another enumeration: a composite with an element for each case, which has the name of the case, or its payload as JSON.
    case enumeration(any Any.Type, cases: [EnumerationCase])
    /// A structure: a composite with an element for each stored property.
    case structure(any Any.Type, fields: [Field])
    /// A collection of primitive values: a keyed archive.
    case archive(any Any.Type)
    /// Any other `Codable` value: JSON.
    case json
    /// A value that a registered transformer converts.
    case transformed(by: String)

    struct Field {
        let name: String
        let type: any Any.Type
        let form: ValueForm
        var isOptional: Bool { type is any OptionalType.Type }
    }

    struct EnumerationCase {
        let name: String
        let hasPayload: Bool
    }

    /// The form of a type that is not optional.
    static func of(_ type: any Any.Type) -> ValueForm {
        if let primitive = primitiveType(of: type) { return .primitive(primitive) }
        if let (integer, wider) = widened(type) { return .widened(integer, wider) }
        if let raw = type as? any RawRepresentable.Type, let form = rawForm(of: raw),
            EnumerationLayout.isEnumeration(type)
        {
            return .rawEnumeration(raw, raw: form)
        }
        if isCollection(type) { return isPlainCollection(type) ? .archive(type) : .json }
        if let cases = EnumerationLayout.cases(of: type) { return .enumeration(type, cases: cases) }
        if let fields = StructureLayout.fields(of: type), !fields.isEmpty {
            return .structure(type, fields: fields.map { Field(name: $0.name, type: $0.type, form: element($0.type)) })
        }
        return .json
    }

    /// The form of an element of a composite, where collections are JSON.
    private static func element(_ type: any Any.Type) -> ValueForm {
        let form = of(unwrappedType(type))
        if case .archive = form { return .json }
        return form
    }

    private static func rawForm(of type: any RawRepresentable.Type) -> ValueForm? {
        func form<R: RawRepresentable>(_: R.Type) -> ValueForm? {
            switch of(R.RawValue.self) {
            case .primitive(let type): .primitive(type)
            case .widened(let integer, let type): .widened(integer, type)
            default: nil
            }
        }
        return _openExistential(type, do: form)
    }

    private static func isCollection(_ type: any Any.Type) -> Bool {
        let name = String(reflecting: type)
        return ["Swift.Array<", "Swift.Set<", "Swift.Dictionary<", "Swift.ContiguousArray<"].contains {
            name.hasPrefix($0)
        }
    }

    /// Whether a collection holds values that a property list can have.
    private static func isPlainCollection(_ type: any Any.Type) -> Bool {
        (type as? any ArchivedCollection.Type)?.elementTypes.allSatisfy { primitiveType(of: $0) != nil } ?? false
    }

    static func primitiveType(of type: any Any.Type) -> NSAttributeType? {
        switch type {
        case is String.Type: .stringAttributeType
        case is Bool.Type: .booleanAttributeType
        case is Int.Type, is Int64.Type: .integer64AttributeType
        case is Int32.Type: .integer32AttributeType
        case is Int16.Type: .integer16AttributeType
        case is Double.Type: .doubleAttributeType
        case is Float.Type: .floatAttributeType
        case is Decimal.Type: .decimalAttributeType
        case is Date.Type: .dateAttributeType
        case is UUID.Type: .UUIDAttributeType
        case is URL.Type: .URIAttributeType
        case is Data.Type: .binaryDataAttributeType
        default: nil
        }
    }

    private static func widened(_ type: any Any.Type) -> (any FixedWidthInteger.Type, NSAttributeType)? {
        switch type {
        case is Int8.Type: (Int8.self, .integer16AttributeType)
        case is UInt8.Type: (UInt8.self, .integer16AttributeType)
        case is UInt16.Type: (UInt16.self, .integer32AttributeType)
        case is UInt32.Type: (UInt32.self, .integer64AttributeType)
        case is UInt64.Type: (UInt64.self, .integer64AttributeType)
        case is UInt.Type: (UInt.self, .integer64AttributeType)
        default: nil
        }
    }

    /// The elements of a composite; nil if the form is none.
    func elements(named name: String, optional: Bool) -> [CompositeElement]? {
        switch self {
        case .rawEnumeration(let type, let raw):
            func rawType<R: RawRepresentable>(_: R.Type) -> any Any.Type { R.RawValue.self }
            return [
                CompositeElement(name: name, type: _openExistential(type, do: rawType), form: raw, isOptional: true)
            ]
        case .enumeration(_, let cases):
            return cases.map { each in
                CompositeElement(
                    name: each.name, type: each.hasPayload ? Data.self : String.self,
                    form: .primitive(each.hasPayload ? .binaryDataAttributeType : .stringAttributeType),
                    isOptional: true)
            }
        case .structure(_, let fields):
            return fields.map { field in
                let isJSON = if case .json = field.form { true } else { false }
                return CompositeElement(
                    name: field.name, type: field.type, form: field.form,
                    isOptional: optional || field.isOptional || isJSON)
            }
        default: return nil
        }
    }

    /// The names of the cases that the composite's user info states.
    var caseNames: [String]? {
        if case .enumeration(_, let cases) = self { cases.map(\.name) } else { nil }
    }

    var isEnumeration: Bool {
        switch self {
        case .rawEnumeration, .enumeration: true
        default: false
        }
    }
}

/// One element of a composite attribute.
struct CompositeElement {
    let name: String
    let type: any Any.Type
    let form: ValueForm
    let isOptional: Bool

    /// The element in a schema.
    var attribute: Schema.Attribute {
        guard let elements = form.elements(named: name, optional: isOptional) else {
            return Schema.Attribute(name: name, valueType: type)
        }
        let composite = Schema.CompositeAttribute(name: name, valueType: type)
        composite.properties = elements.map(\.attribute)
        return composite
    }
}

/// A collection whose elements can be in a keyed archive.
protocol ArchivedCollection {
    static var elementTypes: [any Any.Type] { get }
    /// The Foundation object that is archived.
    var archived: Any { get }
    /// The collection of an archived object.
    init?(archived: Any)
}

extension Array: ArchivedCollection {
    static var elementTypes: [any Any.Type] { [Element.self] }
    var archived: Any { NSArray(array: map { PlainObject.object($0) }) }
    init?(archived: Any) {
        guard let array = archived as? NSArray else { return nil }
        let elements = array.compactMap { PlainObject.value($0, as: Element.self) }
        guard elements.count == array.count else { return nil }
        self = elements
    }
}

extension Set: ArchivedCollection {
    static var elementTypes: [any Any.Type] { [Element.self] }
    var archived: Any { NSSet(array: map { PlainObject.object($0) }) }
    init?(archived: Any) {
        guard let set = archived as? NSSet else { return nil }
        let elements = set.allObjects.compactMap { PlainObject.value($0, as: Element.self) }
        guard elements.count == set.count else { return nil }
        self = Set(elements)
    }
}

extension Dictionary: ArchivedCollection {
    static var elementTypes: [any Any.Type] { [Key.self, Value.self] }
    var archived: Any {
        let pairs = map { (PlainObject.object($0.key), PlainObject.object($0.value)) }
        return NSDictionary(objects: pairs.map(\.1), forKeys: pairs.compactMap { $0.0 as? NSObject })
    }
    init?(archived: Any) {
        guard let dictionary = archived as? NSDictionary else { return nil }
        self = [:]
        for (key, value) in dictionary {
            guard let key = PlainObject.value(key, as: Key.self), let value = PlainObject.value(value, as: Value.self)
            else {
                return nil
            }
            self[key] = value
        }
    }
}

/// Converts primitive values to the objects that archives contain, and back.
enum PlainObject {
    static func object(_ value: Any) -> Any {
        switch value {
        case let value as String: NSString(string: value)
        case let value as Bool: NSNumber(value: value)
        case let value as Int: NSNumber(value: value)
        case let value as Int64: NSNumber(value: value)
        case let value as Int32: NSNumber(value: value)
        case let value as Int16: NSNumber(value: value)
        case let value as Double: NSNumber(value: value)
        case let value as Float: NSNumber(value: value)
        case let value as Decimal: NSDecimalNumber(decimal: value)
        case let value as Date: NSDate(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate)
        case let value as UUID: NSUUID(uuidString: value.uuidString) ?? NSNull()
        case let value as URL: NSURL(string: value.absoluteString) ?? NSNull()
        case let value as Data: NSData(data: value)
        default: value
        }
    }

    static func value<T>(_ object: Any, as type: T.Type) -> T? {
        if let value = object as? T, !(object is NSNumber) { return value }
        let value: Any? =
            switch type {
            case is String.Type: (object as? NSString).map { String(describing: $0) }
            case is Bool.Type: (object as? NSNumber)?.boolValue
            case is Int.Type: (object as? NSNumber)?.intValue
            case is Int64.Type: (object as? NSNumber)?.int64Value
            case is Int32.Type: (object as? NSNumber)?.int32Value
            case is Int16.Type: (object as? NSNumber)?.int16Value
            case is Double.Type: (object as? NSNumber)?.doubleValue
            case is Float.Type: (object as? NSNumber)?.floatValue
            case is Decimal.Type: (object as? NSNumber)?.decimalValue
            case is Date.Type:
                (object as? NSDate).map { Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) }
            case is UUID.Type: (object as? NSUUID).flatMap { UUID(uuidString: $0.uuidString) }
            case is URL.Type: (object as? NSURL).map { $0 as URL }
            case is Data.Type: (object as? NSData).map { Data(referencing: $0) }
            default: nil
            }
        return value as? T
    }
}
