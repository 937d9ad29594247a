import CoreData
import Foundation
import ManagedObjects
import ModelFiles

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

    /// Whether the form is that of an unsigned integer of 64 bits. It is stored by its bits, which have another order.
    var isStoredByBits: Bool {
        guard case .widened(let integer, _) = self else { return false }
        return integer is UInt64.Type || integer is UInt.Type
    }

    /// The form of a type that is not optional.
    static func of(_ type: any Any.Type) -> ValueForm {
        let facts = TypeFacts(type: type)
        switch StoredKind(of: facts) {
        case .primitive(let primitive): return primitiveForm(primitive)
        case .rawEnumeration(let raw):
            guard let enumeration = type as? any RawRepresentable.Type else { return .json }
            return .rawEnumeration(enumeration, raw: primitiveForm(raw))
        case .archive: return .archive(type)
        case .json: return .json
        case .enumeration: return .enumeration(type, cases: EnumerationLayout.cases(of: type) ?? [])
        case .structure:
            return .structure(
                type,
                fields: facts.fields.map { Field(name: $0.name, type: $0.type, form: element($0.type)) })
        }
    }

    private static func primitiveForm(_ primitive: StoredPrimitive) -> ValueForm {
        let type = NSAttributeType(primitive.attributeType)
        if primitive.isWidened, let integer = primitive.type as? any FixedWidthInteger.Type {
            return .widened(integer, type)
        }
        return .primitive(type)
    }

    /// The form of an element of a composite, where collections are JSON.
    private static func element(_ type: any Any.Type) -> ValueForm {
        let form = of(unwrappedType(type))
        return form.storedForm.asElement == .json ? .json : form
    }

    /// What a type's metadata says about it.
    private struct TypeFacts: StoredTypeFacts {
        let type: any Any.Type

        var primitive: StoredPrimitive? { StoredPrimitive.of(type) }

        var rawPrimitive: StoredPrimitive? {
            guard isEnumeration, let raw = type as? any RawRepresentable.Type else { return nil }
            func primitive<R: RawRepresentable>(_: R.Type) -> StoredPrimitive? { StoredPrimitive.of(R.RawValue.self) }
            return _openExistential(raw, do: primitive)
        }

        var isCollection: Bool {
            let name = String(reflecting: type)
            return ["Swift.Array<", "Swift.Set<", "Swift.Dictionary<", "Swift.ContiguousArray<"].contains {
                name.hasPrefix($0)
            }
        }

        var isPlainCollection: Bool {
            (type as? any ArchivedCollection.Type)?.elementTypes.allSatisfy {
                StoredPrimitive.of($0)?.isWidened == false
            } ?? false
        }

        var isEnumeration: Bool { EnumerationLayout.isEnumeration(type) }
        var fields: [StructureLayout.Field] { StructureLayout.fields(of: type) ?? [] }
        var hasFields: Bool { !fields.isEmpty }
    }

    /// The form without the types of the values: what the attribute is made of.
    var storedForm: StoredForm {
        switch self {
        case .primitive(let type), .widened(_, let type): .primitive(ModelAttributeType(type))
        case .rawEnumeration(_, .primitive(let type)), .rawEnumeration(_, .widened(_, let type)):
            .rawEnumeration(ModelAttributeType(type))
        case .rawEnumeration, .json: .json
        case .enumeration(_, let cases):
            .enumeration(cases.map { StoredForm.Case(name: $0.name, hasPayload: $0.hasPayload) })
        case .structure(_, let fields):
            .structure(
                fields.map {
                    StoredForm.Element(
                        name: $0.name, typeName: _typeName(unwrappedType($0.type), qualified: false),
                        form: $0.form.storedForm,
                        isOptional: $0.isOptional)
                })
        case .archive: .archive
        case .transformed(let name): .transformed(by: name)
        }
    }

    /// The elements of a composite; nil if the form is none.
    func elements(named name: String, optional: Bool) -> [CompositeElement]? {
        guard let elements = storedForm.elements(named: name, isOptional: optional) else { return nil }
        let parts: [(type: any Any.Type, form: ValueForm)]
        switch self {
        case .rawEnumeration(let type, let raw):
            func rawType<R: RawRepresentable>(_: R.Type) -> any Any.Type { R.RawValue.self }
            parts = [(_openExistential(type, do: rawType), raw)]
        case .enumeration(_, let cases):
            parts = cases.map {
                $0.hasPayload
                    ? (Data.self, .primitive(.binaryDataAttributeType))
                    : (String.self, .primitive(.stringAttributeType))
            }
        case .structure(_, let fields): parts = fields.map { ($0.type, $0.form) }
        default: parts = []
        }
        return zip(elements, parts).map { element, part in
            CompositeElement(name: element.name, type: part.type, form: part.form, isOptional: element.isOptional)
        }
    }
}

extension ModelAttributeType {
    /// The same type: both have the numbers of files as raw values.
    init(_ type: NSAttributeType) { self = Self(rawValue: Int(type.rawValue)) ?? .undefined }
}

extension NSAttributeType {
    init(_ type: ModelAttributeType) { self = Self(rawValue: UInt(type.rawValue)) ?? .undefinedAttributeType }
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
            case is Decimal.Type: (object as? NSNumber).map { Decimal($0) }
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
