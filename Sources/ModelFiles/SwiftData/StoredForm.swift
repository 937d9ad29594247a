import Foundation
import KeyedArchives

/// A type of Swift whose values SwiftData stores in one column.
package struct StoredPrimitive: Sendable {
    /// The name in Swift, without module.
    package let name: String
    package let type: any Any.Type
    /// The type of the attribute.
    package let attributeType: ModelAttributeType
    /// Whether Core Data has no such type, so that values are stored in a wider one.
    package let isWidened: Bool

    private init(_ type: any Any.Type, _ attributeType: ModelAttributeType, isWidened: Bool = false) {
        (self.type, self.attributeType, self.isWidened) = (type, attributeType, isWidened)
        // `String(describing:)` looks for conformances of the type, which took a third of the instructions of a start.
        name = _typeName(type, qualified: false)
    }

    private static let all = [
        Self(String.self, .string), Self(Bool.self, .boolean), Self(Int.self, .integer64), Self(Int64.self, .integer64),
        Self(Int32.self, .integer32), Self(Int16.self, .integer16), Self(Double.self, .double),
        Self(Float.self, .float), Self(Decimal.self, .decimal), Self(Date.self, .date), Self(UUID.self, .uuid),
        Self(URL.self, .uri), Self(Data.self, .binaryData), Self(Int8.self, .integer16, isWidened: true),
        Self(UInt8.self, .integer16, isWidened: true), Self(UInt16.self, .integer32, isWidened: true),
        Self(UInt32.self, .integer64, isWidened: true), Self(UInt64.self, .integer64, isWidened: true),
        Self(UInt.self, .integer64, isWidened: true),
    ]
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    private static let byType = Dictionary(uniqueKeysWithValues: all.map { (ObjectIdentifier($0.type), $0) })

    /// The primitive with a name; nil if the type is none.
    package static func named(_ name: String) -> StoredPrimitive? { byName[name] }
    /// The primitive that a type is; nil if it is none.
    package static func of(_ type: any Any.Type) -> StoredPrimitive? { byType[ObjectIdentifier(type)] }
}

/// What decides how SwiftData stores the values of a type that is not optional: stated by a type's metadata in a program, and by
/// its declaration in a source.
package protocol StoredTypeFacts {
    var primitive: StoredPrimitive? { get }
    /// The type of the raw values of an enumeration; nil for other types.
    var rawPrimitive: StoredPrimitive? { get }
    /// Whether the type is an array, a set or a dictionary.
    var isCollection: Bool { get }
    /// Whether a collection has elements that are primitive and not widened, as property lists have.
    var isPlainCollection: Bool { get }
    var isEnumeration: Bool { get }
    /// Whether the type is a structure with stored properties.
    var hasFields: Bool { get }
}

/// The way in which SwiftData stores the values of a type.
package enum StoredKind {
    case primitive(StoredPrimitive)
    case rawEnumeration(StoredPrimitive)
    case archive, json, enumeration, structure

    package init(of facts: some StoredTypeFacts) {
        if let primitive = facts.primitive {
            self = .primitive(primitive)
        } else if let raw = facts.rawPrimitive {
            self = .rawEnumeration(raw)
        } else if facts.isCollection {
            self = facts.isPlainCollection ? .archive : .json
        } else if facts.isEnumeration {
            self = .enumeration
        } else {
            self = facts.hasFields ? .structure : .json
        }
    }
}

/// The form in which the values of a Swift type are stored: what an attribute is made of.
package indirect enum StoredForm: Sendable, Equatable {
    /// A value of one of Core Data's types.
    case primitive(ModelAttributeType)
    /// An enumeration with raw values of a type: a composite with one element of its own name.
    case rawEnumeration(ModelAttributeType)
    /// Another enumeration: a composite with an element for each case, which has the case's name, or its payload as JSON.
    case enumeration([Case])
    /// A structure: a composite with an element for each stored property.
    case structure([Element])
    /// A collection of primitive values: a keyed archive.
    case archive
    /// Any other `Codable` value.
    case json
    /// A value that a transformer converts.
    case transformed(by: String)

    package struct Case: Sendable, Equatable {
        package let name: String
        package let hasPayload: Bool

        package init(name: String, hasPayload: Bool) { (self.name, self.hasPayload) = (name, hasPayload) }
    }

    /// An element of a composite.
    package struct Element: Sendable, Equatable {
        package let name: String
        /// The type as Swift prints it.
        package let typeName: String
        package let form: StoredForm
        package let isOptional: Bool

        package init(name: String, typeName: String, form: StoredForm, isOptional: Bool) {
            (self.name, self.typeName, self.form, self.isOptional) = (name, typeName, form, isOptional)
        }
    }

    /// The form as that of an element of a composite, where collections are JSON.
    package var asElement: StoredForm { self == .archive ? .json : self }

    /// The elements of a composite in the order of their columns; nil if the form is none.
    package func elements(named name: String, isOptional: Bool) -> [Element]? {
        switch self {
        case .rawEnumeration(let raw):
            return [Element(name: name, typeName: name, form: .primitive(raw), isOptional: true)]
        case .enumeration(let cases):
            return cases.map {
                Element(
                    name: $0.name, typeName: $0.name, form: .primitive($0.hasPayload ? .binaryData : .string),
                    isOptional: true)
            }
        case .structure(let fields):
            return fields.map {
                Element(
                    name: $0.name, typeName: $0.typeName, form: $0.form,
                    isOptional: isOptional || $0.isOptional || $0.form == .json)
            }
        case .primitive, .archive, .json, .transformed: return nil
        }
    }
}

extension ModelAttribute {
    /// The attribute that stores the values of a Swift type.
    ///
    /// - Parameter typeName: The type as Swift prints it, without `Optional`: the class of a transformable value.
    package init(name: String, form: StoredForm, typeName: String, isOptional: Bool) {
        self.init(name: name, type: form.attributeType, isOptional: isOptional)
        renamingIdentifier = name
        if let elements = form.elements(named: name, isOptional: isOptional) {
            self.elements = elements.map {
                ModelAttribute(name: $0.name, form: $0.form, typeName: $0.typeName, isOptional: $0.isOptional)
            }
        }
        switch form {
        case .rawEnumeration: userInfo = [Self.enumerationKey: .boolean(true)]
        case .enumeration(let cases):
            userInfo = [Self.enumerationKey: .boolean(true), Self.casesKey: .array(cases.map { .string($0.name) })]
        case .archive: (valueClassName, valueTransformerName) = (typeName, Self.plainTransformer)
        case .transformed(let transformer): (valueClassName, valueTransformerName) = (typeName, transformer)
        case .primitive, .structure, .json: break
        }
    }

    /// The name of the transformer of collections.
    package static let plainTransformer = "NSSecureUnarchiveFromData"
    private static let enumerationKey = "EnumType"
    private static let casesKey = "enum"

    /// Whether the attribute is a Swift enumeration: SwiftData notes this in the model.
    package var isEnumeration: Bool {
        guard type == .composite, case .boolean(true)? = userInfo[Self.enumerationKey] else { return false }
        return true
    }

    /// The cases of an enumeration without raw values; nil for one with raw values.
    package var caseNames: [String]? {
        guard case .array(let cases)? = userInfo[Self.casesKey] else { return nil }
        return cases.compactMap { if case .string(let name) = $0 { name } else { nil } }
    }
}

extension StoredForm {
    fileprivate var attributeType: ModelAttributeType {
        switch self {
        case .primitive(let type): type
        case .rawEnumeration, .enumeration, .structure: .composite
        case .archive, .transformed: .transformable
        case .json: .binaryData
        }
    }
}
