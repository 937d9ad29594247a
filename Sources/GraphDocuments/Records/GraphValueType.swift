/// The declared type of an attribute. The raw values are Core Data's own (`NSAttributeType`).
package enum GraphValueType: Int, Sendable, Hashable, CaseIterable {
    /// No declared type: every value is tagged with its own in the document.
    case undefined = 0
    /// An integer of 16 bits.
    case integer16 = 100
    /// An integer of 32 bits.
    case integer32 = 200
    /// An integer of 64 bits.
    case integer64 = 300
    /// A decimal number.
    case decimal = 400
    /// A number of double precision.
    case double = 500
    /// A number of single precision.
    case float = 600
    /// Text.
    case string = 700
    /// A boolean.
    case boolean = 800
    /// A date.
    case date = 900
    /// Bytes.
    case binaryData = 1000
    /// A UUID.
    case uuid = 1100
    /// A URI.
    case uri = 1200
    /// A value that a transformer converts to bytes.
    case transformable = 1800
    /// The ID of a managed object; transient attributes only.
    case objectID = 2000
    /// Several values under one name.
    case composite = 2100

    /// The name of the type in documents and messages.
    package var name: String {
        switch self {
        case .undefined: "undefined"
        case .integer16: "integer16"
        case .integer32: "integer32"
        case .integer64: "integer64"
        case .decimal: "decimal"
        case .double: "double"
        case .float: "float"
        case .string: "string"
        case .boolean: "boolean"
        case .date: "date"
        case .binaryData: "data"
        case .uuid: "uuid"
        case .uri: "uri"
        case .transformable: "transformable"
        case .objectID: "objectID"
        case .composite: "composite"
        }
    }

    /// The range of the integer type, or nil for other types.
    package var integerRange: ClosedRange<Int64>? {
        switch self {
        case .integer16: Int64(Int16.min)...Int64(Int16.max)
        case .integer32: Int64(Int32.min)...Int64(Int32.max)
        case .integer64: Int64.min...Int64.max
        default: nil
        }
    }
}
