import CoreData
import GraphDocuments

/// Composites: dictionaries whose elements have declared types.
struct CompositeCodec: AttributeCodec {
    var elements: [GraphSchema.Attribute]

    func value(of object: Any) -> GraphValue? {
        (object as? [String: Any]).map { dictionary in
            .composite(
                elements.map {
                    GraphAttribute(name: $0.name, value: GraphValue(dictionary[$0.name], declaredAs: $0))
                })
        }
    }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .composite(let given) = value else {
            return try UndeclaredCodec.object(for: value, folder: folder)
        }
        var dictionary: [String: Any] = [:]
        for element in given {
            guard let declared = elements.first(where: { $0.name == element.name }) else { continue }
            dictionary[element.name] = try declared.codec.object(for: element.value, folder: folder)
        }
        return dictionary
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        guard case .composite(let given) = value else {
            // An enumeration has one element, which other programs write without its name.
            guard elements.count == 1, let value = conversion.convert(value, to: elements[0]) else { return nil }
            return .composite([GraphAttribute(name: elements[0].name, value: value)])
        }
        var converted: [GraphAttribute] = []
        for declared in elements {
            guard let element = given.first(where: { $0.name == declared.name }) else { continue }
            guard let value = conversion.convert(element.value, to: declared) else { return nil }
            converted.append(GraphAttribute(name: declared.name, value: value))
        }
        return .composite(converted)
    }
}

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
    package func contents(ofExisting file: ExternalFile) throws -> Data {
        guard !file.isMissing else {
            throw ImportError(.missingFile, "The file of the value did not exist when the document was written.")
        }
        return try contents(of: file)
    }
}
