import CoreData
import GraphDocuments

/// URIs. Columns contain their text; an invalid one is null in objects.
package struct URICodec: AttributeCodec {
    /// The attribute's name, for messages.
    package var name: String

    package func value(of object: Any) -> GraphValue? { (object as? URL).map { .uri($0.absoluteString) } }

    package func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .uri(let text) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return try Self.url(text, name: name)
    }

    package static func url(_ text: String, name: String?) throws -> URL {
        guard let url = URL(string: text) else {
            throw ImportError(.wrongValue, "\"\(text)\" is not a URI.", property: name)
        }
        return url
    }

    package func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        if case .string(let text) = value { .uri(text) } else { nil }
    }
}

/// IDs of managed objects, which only transient attributes have, as their URIs.
struct ObjectIDCodec: AttributeCodec {
    func value(of object: Any) -> GraphValue? {
        (object as? NSManagedObjectID).map { .uri($0.uriRepresentation().absoluteString) }
    }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        try UndeclaredCodec.object(for: value, folder: folder)
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        if case .string(let text) = value { .uri(text) } else { nil }
    }
}
