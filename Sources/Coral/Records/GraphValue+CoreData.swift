import CoreData
import GraphDocuments

extension GraphValue {
    /// The graph value of an attribute's value from key-value coding; `null` for nil.
    ///
    /// `TransformableReader` converts transformable attributes.
    package init(_ value: Any?, declaredAs attribute: GraphSchema.Attribute) {
        guard let value, !(value is NSNull) else {
            self = .null
            return
        }
        self = GraphValue.declared(value, as: attribute) ?? GraphValue(undeclared: value)
    }

    /// Nil if the value does not have the declared type, as a transient property's may not.
    private static func declared(_ value: Any, as attribute: GraphSchema.Attribute) -> GraphValue? {
        switch attribute.type {
        case .boolean: (value as? NSNumber).map { .bool($0.boolValue) }
        case .integer16, .integer32, .integer64: (value as? NSNumber).map { .integer($0.int64Value) }
        case .double: (value as? NSNumber).map { .double($0.doubleValue) }
        case .float: (value as? NSNumber).map { .float($0.floatValue) }
        case .decimal: (value as? NSDecimalNumber).map { .decimal($0.decimalValue) }
        case .string: (value as? String).map { .string($0) }
        case .date: (value as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
        case .binaryData: (value as? Data).map { .data($0) }
        case .uuid: (value as? UUID).map { .uuid($0) }
        case .uri: (value as? URL).map { .uri($0.absoluteString) }
        case .objectID: (value as? NSManagedObjectID).map { .uri($0.uriRepresentation().absoluteString) }
        case .composite: (value as? [String: Any]).map { .composite(elements(of: $0, as: attribute.elements)) }
        case .transformable, .undefined: nil
        }
    }

    private static func elements(
        of dictionary: [String: Any], as elements: [GraphSchema.Attribute]
    ) -> [GraphAttribute] {
        elements.map { GraphAttribute(name: $0.name, value: GraphValue(dictionary[$0.name], declaredAs: $0)) }
    }

    /// The graph value of a value without a declared type. Values of types that attributes do not have become text.
    init(undeclared value: Any) {
        switch value {
        case let decimal as NSDecimalNumber: self = .decimal(decimal.decimalValue)
        case let number as NSNumber: self = GraphValue.number(number)
        case let text as String: self = .string(text)
        case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
        case let data as Data: self = .data(data)
        case let uuid as UUID: self = .uuid(uuid)
        case let url as URL: self = .uri(url.absoluteString)
        default: self = .string(String(describing: value))
        }
    }

    private static func number(_ number: NSNumber) -> GraphValue {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "c"), UInt8(ascii: "B"): .bool(number.boolValue)
        case UInt8(ascii: "d"): .double(number.doubleValue)
        case UInt8(ascii: "f"): .float(number.floatValue)
        default: .integer(number.int64Value)
        }
    }
}

extension ReadableValue {
    /// A tree of plain values from a property list, with sorted keys.
    ///
    /// Recursive; the reader of the property list limits the depth.
    init(propertyList value: Any) {
        switch value {
        case let members as [String: Any]:
            self = .dictionary(
                members.sorted { $0.key < $1.key }.map {
                    Member(name: $0.key, value: ReadableValue(propertyList: $0.value))
                })
        case let elements as [Any]:
            self = .array(elements.map(ReadableValue.init(propertyList:)))
        default:
            self = .value(GraphValue(undeclared: value))
        }
    }
}
