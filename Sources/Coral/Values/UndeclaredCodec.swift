import CoreData
import GraphDocuments

/// Values without a declared type: documents state the type of each. Also transformable values where the model, and so
/// the transformer, is not known.
struct UndeclaredCodec: AttributeCodec {
    var type: GraphValueType

    func value(of object: Any) -> GraphValue? { nil }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        try Self.object(for: value, folder: folder)
    }

    /// The value for key-value coding by the kind of the document's value.
    static func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        switch value {
        case .uri(let text): return try URICodec.url(text, name: nil)
        case .file(let file): return try folder.contents(ofExisting: file)
        case .composite: return [String: Any]()
        case .transformable(let value): return value.archive
        default: return value.scalarObject
        }
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        guard type == .transformable else { return value }
        if case .data(let data) = value { return .transformable(TransformableValue(archive: data)) }
        return .transformable(TransformableValue(archive: nil, readable: .value(value)))
    }
}

extension DocumentFolder {
    /// The contents of a file beside the document. Throws `ImportError` if it did not exist when the document was
    /// written, or cannot be read.
    func contents(ofExisting file: ExternalFile) throws -> Data {
        guard !file.isMissing else {
            throw ImportError(.missingFile, "The file of the value did not exist when the document was written.")
        }
        return try contents(of: file)
    }
}
