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
