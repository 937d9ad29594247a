import CoreData
import GraphDocuments
import XMLReading

/// Text. Texts are equal if their UTF-8 is, as for SQLite: canonically equivalent texts differ.
package struct TextCodec: AttributeCodec {
    package func value(of object: Any) -> GraphValue? { (object as? String).map { .string($0) } }

    package func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .string(let text) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return text
    }

    package func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        switch value {
        case .integer(let value): .string(String(value))
        case .double(let value): .string(Int64(exactly: value).map { String($0) } ?? value.description)
        case .float(let value): .string(value.description)
        case .decimal(let value): .string(value.description)
        case .bool(let value): .string(value ? "true" : "false")
        case .uuid(let value): .string(value.uuidString)
        case .uri(let value): .string(value)
        default: nil
        }
    }
}
