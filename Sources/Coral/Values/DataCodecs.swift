import CoreData
import GraphDocuments

/// Bytes, also those of a file beside the document.
package struct DataCodec: AttributeCodec {
    package func value(of object: Any) -> GraphValue? { (object as? Data).map { .data($0) } }

    package func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .data(let bytes) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return bytes
    }

    package func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        guard case .string(let text) = value else { return nil }
        return Data(base64Encoded: text).map { .data($0) }
    }
}

/// UUIDs. Columns contain sixteen bytes; other programs also store the text.
package struct UUIDCodec: AttributeCodec {
    package func value(of object: Any) -> GraphValue? { (object as? UUID).map { .uuid($0) } }

    package func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .uuid(let uuid) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return uuid
    }

    package func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        switch value {
        case .string(let text):
            UUID(uuidString: text.trimmingCharacters(in: .whitespacesAndNewlines)).map { .uuid($0) }
        case .data(let bytes) where bytes.count == 16:
            bytes.withUnsafeBytes { .uuid(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
        default: nil
        }
    }
}
