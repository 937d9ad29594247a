import Coral
import GraphDocuments

/// The JSON Schema of one attribute's values.
struct AttributeSchema {
    private let attribute: NSAttributeDescription
    private let type: GraphValueType

    init(_ attribute: NSAttributeDescription) {
        self.attribute = attribute
        type = GraphSchema.Attribute(attribute).type
    }

    typealias JSON = [String: Any]

    /// A value of the type, or null if the attribute is optional, or a file beside the document for large data.
    var json: JSON {
        var choices = [value]
        if type == .binaryData || type == .transformable { choices += [Self.file, Self.missingFile] }
        // A required attribute may be null until the object is saved; documents may contain such objects.
        choices.append(["type": "null"])
        var schema: JSON = ["anyOf": choices]
        if attribute.isOptional == false { schema["description"] = "Required." }
        if let value = attribute.defaultValue.flatMap(Self.plain) { schema["default"] = value }
        return schema
    }

    private var value: JSON {
        switch type {
        case .integer16, .integer32, .integer64: number("integer")
        case .double, .float:
            // Values that are not numbers are written as words.
            ["anyOf": [number("number"), ["enum": ["NaN", "Infinity", "-Infinity"]] as JSON]]
        case .decimal:
            ["type": ["string", "number"], "pattern": "^(-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?|NaN)$"]
        case .boolean: ["type": "boolean"]
        case .string: ["type": "string"]
        case .date:
            [
                "type": "string",
                "description": "ISO 8601 in UTC; @ and the seconds since 2001-01-01 where that has no calendar date.",
                "pattern": "^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|@.+)$",
            ]
        case .binaryData: ["type": "string", "contentEncoding": "base64"]
        case .uuid: ["type": "string", "format": "uuid"]
        case .uri, .objectID: ["type": "string", "format": "uri-reference"]
        case .transformable:
            [
                "type": "object",
                "properties": [
                    "$archive": ["type": "string", "contentEncoding": "base64"] as JSON, "$readable": [:] as JSON,
                ],
                "additionalProperties": false,
            ]
        case .composite:
            [
                "type": "object",
                "properties": Dictionary(
                    attribute.compositeElements.map { ($0.name, AttributeSchema($0).json) },
                    uniquingKeysWith: { first, _ in first }) as JSON, "additionalProperties": false,
            ]
        case .undefined: [:]
        }
    }

    private static var missingFile: JSON {
        [
            "type": "object", "required": ["$missing"], "additionalProperties": false,
            "properties": ["$missing": ["type": "string"]] as JSON,
        ]
    }

    private static var file: JSON {
        [
            "type": "object", "required": ["$file"], "additionalProperties": false,
            "properties": ["$file": ["type": "string"], "$size": ["type": "integer"]] as JSON,
        ]
    }

    // MARK: - Constraints of the model

    private func number(_ name: String) -> JSON {
        var schema: JSON = ["type": name]
        if let range = type.integerRange, type != .integer64 {
            schema["minimum"] = range.lowerBound
            schema["maximum"] = range.upperBound
        }
        return schema
    }

    /// A default value as JSON; nil if JSON has no literal for it.
    private static func plain(_ value: Any) -> Any? {
        switch value {
        case is NSDecimalNumber: nil
        case let number as NSNumber: number.doubleValue.isFinite ? number : nil
        case let text as String: text
        default: nil
        }
    }
}
