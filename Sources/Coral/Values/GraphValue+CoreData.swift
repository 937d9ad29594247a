import CoreData
import GraphDocuments

extension GraphValue {
    /// The graph value of an attribute's value from key-value coding; `null` for nil.
    ///
    /// `AttributePlan` converts transformable attributes, which need the model's transformer.
    package init(_ value: Any?, declaredAs attribute: GraphSchema.Attribute) {
        guard let value, !(value is NSNull) else {
            self = .null
            return
        }
        // Only the codec of a transformable attribute of a model throws.
        self = (try? attribute.codec.value(of: value)) ?? GraphValue(undeclared: value)
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

    /// The Foundation object of a scalar value, for key-value coding and predicates; nil for others, and for a URI that is not
    /// a
    /// valid URL.
    package var scalarObject: Any? {
        switch self {
        case .bool(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .float(let value): NSNumber(value: value)
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .string(let value): value
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): value
        case .uuid(let value): value
        case .uri(let text): URL(string: text)
        case .null, .file, .composite, .transformable: nil
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

extension ReadableValue {
    /// The tree as property list values. Recursive; readers have limited its depth.
    var propertyList: Any {
        switch self {
        case .array(let values): values.map(\.propertyList)
        case .dictionary(let members):
            Dictionary(members.map { ($0.name, $0.value.propertyList) }, uniquingKeysWith: { $1 })
        case .value(let value):
            switch value {
            // Property lists have no values of these types.
            case .uri(let text): text
            case .uuid(let value): value.uuidString
            default: value.scalarObject ?? ""
            }
        }
    }
}
